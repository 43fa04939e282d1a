/**
 * A decision, from opening its sheet to its outcome. The sent request is the one that the sheet
 * shows. When the movement changes while the sheet is open, the sheet refuses to send.
 */
import type { Outcome } from '../../../../domain/commands/resolve.ts';
import { lossesIn } from '../../../../domain/json-text.ts';
import { isObject, type JsonObject } from '../../../../domain/json.ts';
import {
  choicesOf,
  isSame,
  type Choice,
  type ReasonAsShown,
  type Standpoint,
  type Verb,
} from './choices.ts';
import type { Movement, Timeline } from './answers.ts';

/**
 * Returns null while the sheet's decision may be sent; otherwise why not, by the present state.
 * `outcome`: what the sheet states, if it is a resolve.
 */
export function overtaken(
  sheet: Choice,
  shownHash: string | null,
  now: Standpoint,
  outcome?: Outcome,
): string | null {
  if (shownHash !== null && now.movement.compiled_plan_hash !== shownHash)
    return 'The plan of the movement is no longer the plan that is shown here.';
  const same = choicesOf(now).find((each) => isSame(each, sheet));
  if (same === undefined) {
    const other = choicesOf(now).find(({ verb, reason }) => verb === sheet.verb && reason === null);
    if (other?.about !== undefined) return `It is now about ${shownAs(other.about)}.`;
    return other?.node == null
      ? (choicesOf(now).find(({ verb }) => verb === sheet.verb)?.reason ??
          'It is no longer offered.')
      : `It is now about ${other.node.node_key} (${other.node.state}, attempt ${String(other.node.attempt)}), and not about what is shown here.`;
  }
  return same.reason ?? notOnOffer(same, outcome);
}

/** Returns that the stated outcome is not on offer; null where it is, or where none is stated. */
function notOnOffer({ outcomes }: Choice, stated: Outcome | undefined): string | null {
  return stated === undefined || outcomes === undefined || outcomes.includes(stated)
    ? null
    : `It cannot be stated as ${stated} now; on offer: ${outcomes.join(', ')}.`;
}

/** Returns the sheet's choice as it is offered now; as it was opened while it is not offered. */
export function presentOf(sheet: Choice, now: Standpoint): Choice {
  const same = choicesOf(now).find((each) => isSame(each, sheet));
  return same?.reason === null ? same : sheet;
}

function shownAs({ attention_reason, node_key }: ReasonAsShown): string {
  const reason = attention_reason.replaceAll('_', ' ');
  return node_key === undefined ? reason : `${reason} of ${node_key}`;
}

const EVENTS: Readonly<Partial<Record<Verb, readonly string[]>>> = {
  approve: ['approval_recorded', 'request_approved', 'request_expired'],
  withdraw_approval: ['approval_withdrawn'],
  reject: ['request_rejected'],
  resume: ['request_resumed'],
  retry: ['request_retried'],
  cancel: ['request_cancelled'],
  acknowledge: ['request_acknowledged'],
  cancel_transaction: ['transaction_cancel_requested'],
};

/** Events that end a wait for approval, whichever operator decided. */
const DECIDED = ['request_approved', 'request_rejected', 'request_expired', 'request_cancelled'];

/**
 * Returns the timeline's decisions since the sheet was opened, newest first: made by another
 * operator or page, or by this sheet's own write whose response was lost.
 */
export function decidedSince(
  verb: Verb,
  timeline: Timeline,
  sequence: number,
): readonly Timeline[number][] {
  const counted = [...(EVENTS[verb] ?? []), ...DECIDED];
  return timeline
    .filter((event) => event.sequence > sequence && counted.includes(event.event_type))
    .toReversed();
}

/** Returns the highest sequence number of a timeline; 0 when it is empty. */
export function lastSequence(timeline: Timeline): number {
  return timeline.reduce((last, { sequence }) => Math.max(last, sequence), 0);
}

/** The request that the operator signs: method, path and body. */
export interface Statement {
  readonly method: 'POST';
  /** Path below the API's prefix. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Filled {
  /** Name of the person who decides, in addition to the signing key. */
  readonly approver_id: string;
  readonly reason: string;
  readonly outcome?: Outcome;
  /** Evidence, one item on each line; parsed by {@link evidenceOf}. */
  readonly proofs?: string;
  /** The node's output as JSON; parsed by {@link outputOf}. */
  readonly output?: string;
  readonly mint_tx_hashes?: readonly string[];
  readonly to_movement_id?: string;
  readonly to_node_key?: string;
}

/**
 * Returns the evidence lines as an object: `name=value` under its name, any other line under
 * `reference`. A repeated name gets a number, so that no line is lost.
 */
export function evidenceOf(proofs: string): Readonly<Record<string, string>> {
  const evidence = new Map<string, string>();
  for (const line of proofs.split('\n').map((each) => each.trim())) {
    if (line === '') continue;
    const [, name = 'reference', value = line] = /^([A-Za-z]\w{0,63})=(.+)$/.exec(line) ?? [];
    let free = name;
    for (let n = 2; evidence.has(free); n += 1) free = `${name}_${String(n)}`;
    evidence.set(free, value.trim());
  }
  return Object.fromEntries(evidence);
}

/** Returns the typed output; null where it is no JSON object, or parsing would change it. */
function outputOf(text: string): JsonObject | null {
  try {
    const output: unknown = JSON.parse(text);
    return isObject(output) && lossesIn(text).length === 0 ? output : null;
  } catch {
    return null;
  }
}

/**
 * Returns the exact request for a choice. `hash` is the hash of the plan that was read and shown.
 */
export function statementOf(
  { verb, node, about }: Choice,
  { movement_id }: Pick<Movement, 'movement_id'>,
  hash: string | null,
  filled: Filled,
): Statement {
  const { approver_id, reason, outcome, mint_tx_hashes = [] } = filled;
  const evidence = evidenceOf(filled.proofs ?? '');
  const output = outputOf(filled.output ?? '');
  const root = `/movements/${movement_id}`;
  const ofNode = `${root}/nodes/${encodeURIComponent(node?.node_key ?? '')}/actions`;
  const to = (path: string, body: Statement['body'] = {}): Statement => ({
    method: 'POST',
    path,
    body,
  });
  switch (verb) {
    case 'approve':
      return to(`${root}/approve`, {
        approver_id,
        compiled_plan_hash: hash,
        ...(reason === '' ? {} : { reason }),
      });
    case 'withdraw_approval':
      return to(`${root}/withdraw-approval`);
    case 'reject':
      return to(`${root}/reject`, {
        approver_id,
        ...(hash === null ? {} : { compiled_plan_hash: hash }),
        ...(reason === '' ? {} : { reason }),
      });
    case 'resume':
    case 'retry':
      return to(`${root}/actions/${verb}`, { ...node });
    case 'cancel':
      return to(`${root}/actions/cancel`);
    case 'acknowledge':
      return to(`${root}/actions/acknowledge`, { reason, ...about });
    case 'reset_allowances':
      return to(`${root}/actions/reset-allowances`);
    case 'resolve':
      return to(`${ofNode}/resolve`, {
        outcome,
        reason,
        evidence,
        ...(node === null ? {} : { attempt: node.attempt }),
        ...(output === null ? {} : { output }),
        ...(mint_tx_hashes.length === 0 ? {} : { mint_tx_hashes }),
      });
    case 'cancel_transaction':
      return to(`${ofNode}/cancel-transaction`, { reason });
    case 'reassign':
      return to(`${ofNode}/reassign`, {
        to_movement_id: filled.to_movement_id,
        to_node_key: filled.to_node_key,
        reason,
        evidence,
      });
  }
}

/** Whether the API accepts a reason with the verb, and whether it requires one. */
export const REASONS: Readonly<Record<Verb, 'required' | 'optional' | 'none'>> = {
  approve: 'optional',
  withdraw_approval: 'none',
  reject: 'optional',
  resume: 'none',
  retry: 'none',
  cancel: 'none',
  resolve: 'required',
  acknowledge: 'required',
  cancel_transaction: 'required',
  reassign: 'required',
  reset_allowances: 'none',
};

/** Maximum length of a reason in the API, in characters. */
export const LONGEST_REASON = 1_000;

/**
 * Returns what is missing or wrong in the sheet's fields, as a sentence; null when the request can
 * be sent.
 */
export function missing(
  { verb, claim_places }: Pick<Choice, 'verb' | 'claim_places'>,
  filled: Filled,
): string | null {
  const needsLabel = verb === 'approve' || verb === 'reject';
  if (needsLabel && filled.approver_id.trim() === '') return 'Write who decides.';
  if (filled.approver_id.length > 128) return 'The label may have at most 128 characters.';
  if (REASONS[verb] === 'required' && filled.reason.trim() === '') return 'Write a reason.';
  if (filled.reason.length > LONGEST_REASON)
    return `The reason may have at most ${String(LONGEST_REASON)} characters.`;
  if (verb === 'resolve' && filled.outcome === undefined) return 'Choose what became of it.';
  const hasEvidence = Object.keys(evidenceOf(filled.proofs ?? '')).length > 0;
  if ((verb === 'resolve' || verb === 'reassign') && !hasEvidence) return 'Write what proves it.';
  if (verb === 'reassign' && (!filled.to_movement_id || !filled.to_node_key))
    return 'Name the movement and the node that the payment is for.';
  return filled.outcome === 'completed' ? missingClaim(filled, claim_places) : null;
}

/** Returns what is wrong with how the claim of a completed node is named; null if nothing is. */
function missingClaim(
  { output = '', mint_tx_hashes = [] }: Filled,
  places: readonly string[] = [],
): string | null {
  const isTyped = output.trim() !== '';
  const isMinted = mint_tx_hashes.length > 0;
  if (isTyped && outputOf(output) === null)
    return 'The output must be a JSON object with each name once and long numbers as text.';
  if (isTyped && isMinted) return 'Name the output or the mints, not both.';
  if (isTyped || isMinted || places.length === 0) return null;
  return `Name what completed it, in ${places.join(', or in ')}.`;
}
