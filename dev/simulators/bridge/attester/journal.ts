/** What the attester has seen and signed: one JSON object a line, on disk before it is answered. */
import { z } from 'zod';
import { openAppendLog } from '../../kit/append-log.ts';
import { hex, type Hex } from '../../kit/hex.ts';

/** Milliseconds since 1970. */
const at = z.number();
/** `<domain>:<transaction>:<which of its messages>`. */
const key = z.string();

const eventSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('seen'), key, at }),
  /** The message as it was signed, its four fields filled in. */
  z.strictObject({ kind: z.literal('attested'), key, nonce: hex, message: hex, at }),
  /** A caller requested another attestation. */
  z.strictObject({ kind: z.literal('asked_anew'), key, at }),
]);
export type AttesterEvent = z.infer<typeof eventSchema>;

/** What is known of one message. */
export interface Known {
  readonly seenAt: number;
  readonly attested: { readonly nonce: Hex; readonly message: Hex } | null;
  /** When another attestation was requested; null while none is due. */
  readonly askedAt: number | null;
}

export interface AttesterJournal {
  known(key: string): Known | undefined;
  /** The key of the message with this nonce. */
  keyOf(nonce: string): string | undefined;
  /** Every message, in order of its first sight. */
  all(): readonly (readonly [key: string, known: Known])[];
  append(event: AttesterEvent): void;
  close(): void;
}

/**
 * Opens `file`, creating it when missing; a last line that a kill cut off is dropped.
 *
 * @throws Error when a complete line is no event.
 */
export function openAttesterJournal(file: string): AttesterJournal {
  const messages = new Map<string, Known>();
  const nonces = new Map<string, string>();
  const note = (event: AttesterEvent): void => {
    const before = messages.get(event.key) ?? { seenAt: event.at, attested: null, askedAt: null };
    if (event.kind === 'seen') messages.set(event.key, before);
    else if (event.kind === 'asked_anew') messages.set(event.key, { ...before, askedAt: event.at });
    else {
      const { nonce, message } = event;
      messages.set(event.key, { ...before, attested: { nonce, message }, askedAt: null });
      nonces.set(nonce, event.key);
    }
  };
  const { events, append, close } = openAppendLog(file, eventSchema);
  events.forEach(note);
  return {
    known: (wanted) => messages.get(wanted),
    keyOf: (nonce) => nonces.get(nonce.toLowerCase()),
    all: () => [...messages],
    append: (event) => {
      append(event);
      note(event);
    },
    close,
  };
}
