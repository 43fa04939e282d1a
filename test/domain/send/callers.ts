/**
 * The two callers of domain/send as one thing: a row in a database that compares and sets, and what
 * the product decides from it. Only the database is made here, in the words of its SQL functions;
 * every decision is the product's.
 */
import {
  answered,
  attention,
  failed,
  submitting,
  takenOver as stepTakenOver,
} from '../../../domain/capital-transfers/step.ts';
import type { TransferAnswer } from '../../../domain/capital-transfers/provider.ts';
import type { TransferRow, TransferStep } from '../../../domain/capital-transfers/step.ts';
import { fenced, takenOver } from '../../../domain/send/epoch.ts';
import {
  afterNodeNotFound,
  isAccepted,
  isLate,
  nodeWindow,
  unlanded,
  type NodeSend,
} from '../../../domain/send/node.ts';
import { unsettledSeconds } from '../../../domain/send/not-found.ts';
import {
  afterTransferNotFound,
  maySendTransfer,
  transferWindow,
  undecidableSeconds,
} from '../../../domain/capital-transfers/send.ts';
import type { NodeState } from '../../../domain/states/node.ts';
import { NODE_TABLE } from '../../../domain/states/node.ts';
import { TRANSFER_TABLE } from '../../../domain/states/capital-transfer.ts';
import { assertMove } from '../../../domain/states/table.ts';
import type { Stamp } from '../../../domain/transition.ts';
import type { Contract, World } from './model.ts';

export type Answer = 'accepted' | 'completed' | 'failed' | 'lost';
/**
 * What a look comes to; `silence`: the venue has been unreachable for so long that a person
 * decides.
 */
export type Seen = 'accepted' | 'completed' | 'nothing' | 'silence';
export type Stand =
  'unsent' | 'sending' | 'asking' | 'accepted' | 'person' | 'completed' | 'failed';

/** A row as a process has read it; only its own caller looks into it. */
export type Row = { readonly epoch: number };

export interface Caller {
  stand(): Stand;
  /** The row now, by the database's clock. */
  read(): Row;
  /** Seconds; what the fence is to write. */
  window(): number;
  /** Whether a process that has read this row, and may send under this epoch, goes to the fence. */
  wouldSend(row: Row, epoch: number): boolean;
  /** The row behind the fence; null when it is refused. */
  fence(row: Row): Row | null;
  /** What the sender writes of its answer; whether it was taken. */
  answer(row: Row, answer: Answer): boolean;
  /** Takes over from whoever sends; null where there is nothing to ask about. */
  begin(): Row | null;
  /**
   * What a look found, written under the row that it began with; whether it says that the key is to
   * be sent again.
   */
  found(row: Row, seen: Seen): boolean;
  /** The row says that the venue has accepted it. */
  knowsAccepted(): boolean;
  /** A person has it sent again; whether that is possible. */
  retry(): boolean;
  /** Whether a person may say now that nothing was moved. */
  mayBeSaidToHaveFailed(): boolean;
}

const at = (world: World, stamp: Stamp): number | null =>
  stamp === null ? null : stamp === '@now' ? world.now : world.now + stamp['@after_seconds'] * 1000;

export function callerOf(world: World): Caller {
  return world.contract.caller === 'node' ? nodeCaller(world) : transferCaller(world);
}

/** As `apply_transition`, `take_over` and the phases behind them. */
function nodeCaller(world: World): Caller {
  const contract: Contract = world.contract;
  type NodeRow = NodeSend & Row;
  const executor = { ...contract, kind: contract.queued ? 'task_queue' : 'remote' } as const;
  const { observe_seconds } = contract;
  let row: Omit<NodeRow, 'now_ms'> = {
    state: 'READY',
    epoch: 0,
    recover_first: false,
    restored: false,
    error_count: 0,
    started_ms: world.now,
    submitted_ms: null,
    send_not_after_ms: null,
    node: observe_seconds === undefined ? {} : { timeout_policy: { observe_seconds } },
  };
  const read = (): NodeRow => ({ ...row, now_ms: world.now });
  const write = (
    from: NodeRow,
    to: NodeState,
    set: Partial<Omit<NodeRow, 'now_ms'>> = {},
  ): boolean => {
    if (row.state !== from.state || row.epoch !== from.epoch) return false;
    if (row.recover_first && to === 'SUBMITTING') return false;
    const path =
      row.state === 'SUBMITTED' && ['COMPLETED', 'FAILED', 'UNKNOWN'].includes(to)
        ? ['OBSERVING' as const, to]
        : [to];
    for (const [index, next] of path.entries()) {
      const before = path[index - 1] ?? row.state;
      if (before !== next) assertMove(NODE_TABLE, before, next);
    }
    row = { ...row, ...set, state: to };
    if (to === 'COMPLETED') world.completed();
    if (to === 'FAILED') world.failed();
    return true;
  };
  const landed = (from: NodeRow): boolean =>
    write(from, from.state === 'SUBMITTING' ? 'SUBMITTED' : 'OBSERVING', {
      submitted_ms: row.submitted_ms ?? world.now,
      recover_first: false,
      error_count: 0,
    });
  const mine = (each: Row): NodeRow => each as NodeRow;
  return {
    read,
    window: () => nodeWindow(executor),
    stand: () => {
      if (row.state === 'READY') return row.recover_first ? 'asking' : 'unsent';
      if (row.state === 'SUBMITTING') return 'sending';
      if (row.state === 'UNKNOWN') return 'person';
      if (row.state === 'COMPLETED') return 'completed';
      return row.state === 'FAILED' ? 'failed' : 'accepted';
    },
    wouldSend: (each) => mine(each).state === 'READY' && !mine(each).recover_first,
    fence: (each) => {
      const { epoch, send_not_after } = fenced(each.epoch, nodeWindow(executor));
      return write(mine(each), 'SUBMITTING', {
        epoch,
        send_not_after_ms: at(world, send_not_after),
      })
        ? read()
        : null;
    },
    answer: (each, answer) => {
      const from = mine(each);
      if (answer === 'lost') return false;
      if (answer === 'completed') return write(from, 'COMPLETED');
      return answer === 'failed' ? write(from, 'FAILED') : landed(from);
    },
    begin: () => {
      const open = row.state === 'SUBMITTING' || (row.state === 'READY' && row.recover_first);
      // Under observation it is recovered only when its time is over; UNKNOWN keeps its epoch.
      if (row.state === 'UNKNOWN') return read();
      if (!open && !(isAccepted(row.state) && isLate(read()))) return null;
      row = { ...row, epoch: takenOver(row.epoch, { is_over: false }).epoch };
      return read();
    },
    knowsAccepted: () => row.submitted_ms !== null,
    found: (each, seen) => {
      const from = mine(each);
      if (seen === 'completed') write(from, 'COMPLETED', { recover_first: false });
      if (seen === 'accepted' && isAccepted(from.state)) write(from, 'UNKNOWN');
      else if (seen === 'accepted' && !(from.state === 'UNKNOWN' && isLate(from))) landed(from);
      if (seen === 'silence' && from.state !== 'UNKNOWN')
        write(from, 'UNKNOWN', { recover_first: false });
      if (seen !== 'nothing') return false;
      const follows = afterNodeNotFound(from, executor, contract.most_sends);
      if (follows.next === 'person' && from.state !== 'UNKNOWN')
        write(from, 'UNKNOWN', { recover_first: false });
      if (follows.next === 'fail') write(from, 'FAILED');
      return follows.next === 'send' && write(from, 'READY', pick(unlanded(from, follows)));
    },
    retry: () => write(read(), 'READY', { recover_first: true, error_count: 0 }),
    mayBeSaidToHaveFailed: () => {
      const { send_not_after_ms, now_ms } = read();
      const send_left_ms = send_not_after_ms === null ? null : send_not_after_ms - now_ms;
      return unsettledSeconds({ send_left_ms, settle_seconds: contract.settle_seconds }) <= 0;
    },
  };
}

function pick({ recover_first, error_count, send_not_after }: ReturnType<typeof unlanded>) {
  if (send_not_after !== undefined && send_not_after !== null)
    throw new Error('a send that has not landed is not under way');
  return {
    error_count,
    ...(recover_first === undefined ? {} : { recover_first }),
    ...(send_not_after === null ? { send_not_after_ms: null } : {}),
  };
}

/** As `apply_transfer_step` and the activities of transfers. */
function transferCaller(world: World): Caller {
  const { contract } = world;
  type Kept = Pick<
    TransferRow,
    'transfer_id' | 'provider' | 'state' | 'epoch' | 'sends' | 'acknowledged'
  >;
  type Known = Kept & Pick<TransferRow, 'send_left_ms' | 'pending_left_ms'>;
  let row: Kept = {
    transfer_id: 't',
    provider: 'p',
    state: 'CREATED',
    epoch: 0,
    sends: 0,
    acknowledged: false,
  };
  let send_not_after: number | null = null;
  let pending_until: number | null = null;
  const left = (until: number | null): number | null => (until === null ? null : until - world.now);
  const read = (): Known => ({
    ...row,
    send_left_ms: left(send_not_after),
    pending_left_ms: left(pending_until),
  });
  const apply = (step: TransferStep): boolean => {
    if (!step.from.includes(row.state) || (step.epoch ?? row.epoch) !== row.epoch) return false;
    const to = step.to ?? row.state;
    if (step.to !== undefined) assertMove(TRANSFER_TABLE, row.state, to);
    const { epoch = row.epoch, sends = row.sends, acknowledged = row.acknowledged } = step.set;
    row = { ...row, state: to, epoch, sends, acknowledged };
    if (step.set.send_not_after !== undefined) send_not_after = at(world, step.set.send_not_after);
    if (step.set.pending_until !== undefined) pending_until ??= at(world, step.set.pending_until);
    if (to === 'PENDING_PROVIDER_CONFIRMATION') world.waits();
    if (to === 'COMPLETED') world.completed();
    if (to === 'FAILED') world.failed();
    return true;
  };
  const write = (from: Known, answer: TransferAnswer): boolean => {
    const step = answered(from, answer, contract.pending_seconds);
    return step !== null && apply(step);
  };
  /** As `unanswered` of the look: a person decides once it has taken too long. */
  const nothingNew = (from: Known): void => {
    if (from.state !== 'MANUAL_INTERVENTION' && (from.pending_left_ms ?? 0) <= 0)
      apply(attention(from, 'too long'));
  };
  const mine = (each: Row): Known => each as Known;
  return {
    read,
    window: () => transferWindow(contract),
    stand: () => {
      if (row.state === 'CREATED') return 'unsent';
      if (row.state === 'SUBMITTING') return 'sending';
      if (row.state === 'COMPLETED') return 'completed';
      if (row.state === 'FAILED') return 'failed';
      if (row.state === 'MANUAL_INTERVENTION') return 'person';
      return row.acknowledged ? 'accepted' : 'asking';
    },
    wouldSend: (each, epoch) => maySendTransfer(mine(each), contract, epoch),
    fence: (each) =>
      apply(submitting(mine(each), transferWindow(contract), Infinity)) ? read() : null,
    answer: (each, answer) => {
      const from = mine(each);
      if (answer === 'lost')
        return apply(stepTakenOver(from, contract.pending_seconds, { isOver: true }));
      if (answer === 'failed')
        return write(from, { status: 'failed', error_code: 'NO', error_message: 'no' });
      return write(from, { status: answer === 'accepted' ? 'pending' : 'completed' });
    },
    begin: () => {
      if (['CREATED', 'COMPLETED', 'FAILED'].includes(row.state)) return null;
      if (
        row.state === 'SUBMITTING' &&
        !apply(stepTakenOver(read(), contract.pending_seconds, { isOver: false }))
      )
        return null;
      return read();
    },
    knowsAccepted: () => row.acknowledged,
    found: (each, seen) => {
      const from = mine(each);
      if (seen === 'completed') write(from, { status: 'completed' });
      if ((seen === 'accepted' && !write(from, { status: 'pending' })) || seen === 'silence')
        nothingNew(from);
      if (seen !== 'nothing') return false;
      const follows = afterTransferNotFound(from, contract);
      if (follows.next === 'fail')
        apply(failed(from, { code: 'SUBMIT_NOT_LANDED', message: '' }, { provider: null }));
      if (follows.next === 'person' || follows.next === 'wait') nothingNew(from);
      return follows.next === 'send';
    },
    retry: () => false,
    mayBeSaidToHaveFailed: () => undecidableSeconds(read(), contract.settle_seconds) <= 0,
  };
}
