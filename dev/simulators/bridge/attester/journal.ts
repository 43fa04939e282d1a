/**
 * Journal of what the attester has seen and signed: one JSON object on each line, on disk before
 * the response is sent.
 */
import { z } from 'zod';
import { openAppendLog } from '../../kit/append-log.ts';
import { hex, type Hex } from '../../kit/hex.ts';

/** Milliseconds since 1970. */
const at = z.number();
/** Key of a message: `<domain>:<transaction>:<index among the transaction's messages>`. */
const key = z.string();

const eventSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('seen'), key, at }),
  /** The signed message, with its four fields filled in. */
  z.strictObject({ kind: z.literal('attested'), key, nonce: hex, message: hex, at }),
  /** A caller requested another attestation. */
  z.strictObject({ kind: z.literal('asked_anew'), key, at }),
]);
export type AttesterEvent = z.infer<typeof eventSchema>;

/** State of one message. */
export interface Known {
  readonly seenAt: number;
  readonly attested: { readonly nonce: Hex; readonly message: Hex } | null;
  /** When another attestation was requested, in milliseconds since 1970; null when none is due. */
  readonly askedAt: number | null;
}

export interface AttesterJournal {
  known(key: string): Known | undefined;
  /** Returns the journal key of the message with this nonce. */
  keyOf(nonce: string): string | undefined;
  /** Returns every message, ordered by when it was first seen. */
  all(): readonly (readonly [key: string, known: Known])[];
  append(event: AttesterEvent): void;
  close(): void;
}

/**
 * Opens `file`, and creates it when missing; drops an incomplete last line, which a killed process
 * left.
 *
 * @throws Error when a complete line is not an event.
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
