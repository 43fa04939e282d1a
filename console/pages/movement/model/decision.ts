/**
 * A decision from the moment its sheet is open to what became of it. What is sent is what the sheet
 * shows; when the movement changes under the sheet, it is refused here before the service does.
 */
import { choicesOf, isSame, type Choice, type Standpoint, type Verb } from './choices.ts';
import type { Movement, Timeline } from './answers.ts';

/** Null while the decision of the sheet may be sent; else why not, as things stand now. */
export function overtaken(sheet: Choice, shownHash: string | null, now: Standpoint): string | null {
  if (shownHash !== null && now.movement.compiled_plan_hash !== shownHash)
    return 'The movement has another plan than the one that is shown here.';
  const same = choicesOf(now).find((each) => isSame(each, sheet));
  if (same === undefined) {
    const other = choicesOf(now).find(({ verb, reason }) => verb === sheet.verb && reason === null);
    return other?.node == null
      ? (choicesOf(now).find(({ verb }) => verb === sheet.verb)?.reason ??
          'It is no longer offered.')
      : `It is now about ${other.node.node_key} (${other.node.state}, attempt ${String(other.node.attempt)}), and not about what is shown here.`;
  }
  return same.reason;
}

const EVENTS: Readonly<Partial<Record<Verb, readonly string[]>>> = {
  approve: ['request_approved', 'request_expired'],
  reject: ['request_rejected'],
  resume: ['request_resumed'],
  retry: ['request_retried'],
  cancel: ['request_cancelled'],
  acknowledge: ['request_acknowledged'],
  cancel_transaction: ['transaction_cancel_requested'],
};

/** What ends a wait for a decision about an approval, whoever it was. */
const DECIDED = ['request_approved', 'request_rejected', 'request_expired', 'request_cancelled'];

/**
 * Who decided what since the sheet was opened, newest first, by the timeline: a person on another
 * page, or this one's own write whose answer was lost.
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

/** The last place of a timeline that was shown; 0 without one. */
export function lastSequence(timeline: Timeline): number {
  return timeline.reduce((last, { sequence }) => Math.max(last, sequence), 0);
}

/** What the operator signs, line by line: method and path, and each field of the body. */
export interface Statement {
  readonly method: 'POST';
  /** Under the prefix of the API. */
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Filled {
  /** A label beside the key that signs. */
  readonly approver_id: string;
  readonly reason: string;
  readonly outcome?: 'completed' | 'failed';
  /** What proves it, one a line; read by {@link evidenceOf}. */
  readonly proofs?: string;
  readonly mint_tx_hashes?: readonly string[];
  readonly to_movement_id?: string;
  readonly to_node_key?: string;
}

/**
 * Each line as a member: `name=value` under its name, else a reference. What has a name that is
 * taken gets a number, so that no line is lost.
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

/** Exactly what is sent for a choice. `hash` is that of the plan that was read and shown. */
export function statementOf(
  { verb, node }: Choice,
  { movement_id }: Pick<Movement, 'movement_id'>,
  hash: string | null,
  filled: Filled,
): Statement {
  const { approver_id, reason, outcome, mint_tx_hashes = [] } = filled;
  const evidence = evidenceOf(filled.proofs ?? '');
  const root = `/movements/${movement_id}`;
  const ofNode = `${root}/nodes/${encodeURIComponent(node?.node_key ?? '')}/actions`;
  const to = (path: string, body: Statement['body'] = {}): Statement => ({
    method: 'POST',
    path,
    body,
  });
  switch (verb) {
    case 'approve':
      return to(`${root}/approve`, { approver_id, compiled_plan_hash: hash });
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
      return to(`${root}/actions/acknowledge`, { reason });
    case 'reset_allowances':
      return to(`${root}/actions/reset-allowances`);
    case 'resolve':
      return to(`${ofNode}/resolve`, {
        outcome,
        reason,
        evidence,
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

/** Whether the API takes a reason with the verb, and whether it requires one. */
export const REASONS: Readonly<Record<Verb, 'required' | 'optional' | 'none'>> = {
  approve: 'none',
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

/** The longest reason that the API takes, in characters. */
export const LONGEST_REASON = 1_000;

/** What is missing or wrong in the sheet's fields, as a sentence; null where it can be sent. */
export function missing(verb: Verb, filled: Filled): string | null {
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
  return null;
}
