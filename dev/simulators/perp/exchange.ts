/**
 * `POST /exchange`: handles a request body, in the order of docs/perps-venue-facts.md 1.4. An
 * action refused before its nonce is admitted may be sent again; after that it can never be
 * executed.
 */
import type { Hex } from '../kit/hex.ts';
import { envelopeSchema, isUserSigned, ownNonce, type Envelope } from './actions.ts';
import { Refused } from './action-context.ts';
import { masterOf, type Book } from './book.ts';
import type { Effect, ExchangeEntry } from './events.ts';
import { venueNow, type PerpFaults } from './faults.ts';
import { refusalOfNonce } from './nonces.ts';
import { actionHash, perform } from './perform.ts';
import { recoverSigner, type Network } from './signing.ts';
import type { Store } from './store.ts';
import { readJson, type Answer } from './wire.ts';

interface Parts {
  readonly store: Store;
  readonly network: Network;
  readonly faults: () => PerpFaults;
  /** Returns and removes the refusal that a fault set for the next action; null without one. */
  readonly orderedRefusal: () => string | null;
}

interface Outcome {
  readonly answer: Answer;
  readonly signer: Hex | null;
  readonly nonce: number | null;
  readonly admitted: boolean;
  readonly effects: readonly Effect[];
}

/** Executes the requested action, records it in the journal, and returns the response. */
export async function takeAction(
  parts: Parts,
  call: { readonly body: string; readonly contentType: string; readonly answered: boolean },
): Promise<Answer> {
  const read = readJson(call, envelopeSchema);
  if ('refusal' in read) {
    write(parts.store, call, nothing(read.refusal), Date.now());
    return read.refusal;
  }
  const signer = await recoverSigner(read.value, parts.network);
  // No await from here on, so no other call changes the book in between.
  const now = venueNow(parts.faults());
  const outcome = decide(parts, read.value, { signer, now });
  write(parts.store, call, outcome, now);
  return outcome.answer;
}

/** Records a call that a fault kept from doing anything. */
export function noteUnheard(store: Store, body: string, answer: Answer): void {
  write(store, { body, answered: true }, nothing(answer), Date.now());
}

function decide(
  parts: Parts,
  envelope: Envelope,
  { signer, now }: { signer: Hex | null; now: number },
): Outcome {
  const { action, nonce } = envelope;
  const { book } = parts.store;
  const user = signer === null ? null : userOf(book, envelope, { signer, now });
  const before = refusalBefore(parts, envelope, { signer, user, now });
  if (before !== null || signer === null || user === null)
    return { ...nothing(refusal(before ?? 'Unable to recover signer.')), signer, nonce };
  const admitted = { signer, nonce, admitted: true };
  try {
    const ordered = parts.orderedRefusal();
    if (ordered !== null) throw new Refused(ordered);
    if (envelope.expiresAfter != null && envelope.expiresAfter < now)
      throw new Refused('Action already expired');
    const goneAt = book.agentGoneAt.get(user) ?? -Infinity;
    if (action.type === 'approveAgent' && now < goneAt + parts.faults().agent_removal_ms)
      throw new Refused('User has pending agent removal');
    const hash = actionHash(signer, nonce);
    const context = { book, user, nonce, now, network: parts.network, hash };
    const { effects, response } = perform(context, action);
    return { ...admitted, effects, answer: { status: 200, json: { status: 'ok', response } } };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { ...admitted, effects: [], answer: refusal(error.message) };
  }
}

/** Returns why the action is refused before its nonce is used; null when it is admitted. */
function refusalBefore(
  { store, network }: Parts,
  envelope: Envelope,
  { signer, user, now }: { signer: Hex | null; user: Hex | null; now: number },
): string | null {
  const { action, nonce, vaultAddress, expiresAfter } = envelope;
  const own = ownNonce(action);
  if (own !== null && own !== nonce) return 'Nonce mismatch.';
  // The venue's text for this refusal is unknown; this text is ours.
  if (isUserSigned(action) && action.hyperliquidChain !== network)
    return `This is ${network}, not ${action.hyperliquidChain}.`;
  if (signer === null) return 'Unable to recover signer.';
  if (user === null)
    return isUserSigned(action)
      ? `Must deposit before performing actions. User: ${signer}`
      : `User or API Wallet ${signer} does not exist.`;
  if (vaultAddress != null) {
    const own = store.book.subAccounts.get(vaultAddress)?.master === user;
    if (action.type !== 'noop' || !own) return 'Vault may not perform this action.';
  }
  if (isUserSigned(action) && expiresAfter != null) return 'Action does not support expires_after';
  return refusalOfNonce(store.book, { signer, nonce, now });
}

/**
 * Returns the account for which a signer acts: a user-signed action is always the signer's own,
 * other actions may be signed by an agent. Null for an unknown signer.
 */
function userOf(
  book: Book,
  { action }: Envelope,
  { signer, now }: { signer: Hex; now: number },
): Hex | null {
  const master = isUserSigned(action) ? null : masterOf(book, signer, now);
  return master ?? (book.accounts.has(signer) ? signer : null);
}

function refusal(response: string): Answer {
  return { status: 200, json: { status: 'err', response } };
}

function nothing(answer: Answer): Outcome {
  return { answer, signer: null, nonce: null, admitted: false, effects: [] };
}

function write(
  store: Store,
  { body, answered }: { readonly body: string; readonly answered: boolean },
  { answer, signer, nonce, admitted, effects }: Outcome,
  at: number,
): void {
  const entry: ExchangeEntry = {
    kind: 'exchange',
    at,
    body,
    signer,
    nonce,
    admitted,
    answered,
    status: answer.status,
    answer: 'json' in answer ? answer.json : answer.text,
    effects: [...effects],
  };
  store.append(entry);
}
