/** What a person decides about a movement as a whole. */
import { userInfo } from 'node:os';
import { answerOf, command } from '../../command-line/command.ts';
import { CommandError, EXIT, usageError } from '../../command-line/exit.ts';
import { flag, text } from '../../command-line/options.ts';
import { defined } from '../../command-line/paging.ts';
import type { Session } from '../../command-line/session.ts';
import { failure } from '../../command-line/words.ts';
import type { BodyOf, ResultOf } from '../../http/operations.ts';
import { MOVEMENT, REASON, YES } from '../shared.ts';

const APPROVER = {
  approver: text(
    'label',
    'who decides, as a label beside the key (SVC_APPROVER, approver of a profile, else the name of your login)',
  ),
};

const NODE = {
  node: text('key', 'only if this is the node that would go on'),
};

export const approve = command({
  name: 'approve',
  about: 'Read what a movement would move, and approve exactly that',
  details:
    "Shows who requests it, amounts, terms, executors and signers from the bytes of the plan, each payee with the allowlist's label and standing, limits, balances and what would fail now; makes the hash of those bytes here, asks, and approves that hash.",
  examples: ['fundctl movements approve <movement-id>'],
  args: MOVEMENT,
  options: {
    ...APPROVER,
    overLimit: flag('approve a plan whose amounts are beyond its own limits'),
    hash: text('hex', 'approve only if this is the hash, as somebody else has read it'),
    ...YES,
  },
  answer: answerOf('approveMovement'),
  run: async ({ session, args, options }) => {
    const params = { movement_id: args.movementId };
    const what = await whatMoves(session, args.movementId);
    const { request_state: now } = what.movement;
    if (now !== 'PENDING_APPROVAL') throw wrongState(now, 'approved', ['PENDING_APPROVAL']);
    if (options.hash !== undefined && options.hash.toLowerCase() !== what.hash)
      throw failure(`The plan's hash is ${what.hash}, and not the one that was given.`);
    if (what.beyond !== null && !options.overLimit)
      throw failure(`${what.beyond} It is approved only with --over-limit.`);
    const approver_id = approverOf(session, options.approver);
    await session.confirm('Approve this?', { yes: options.yes, what: what.text });
    const answer = await session.call('approveMovement', {
      params,
      body: { compiled_plan_hash: what.hash, approver_id },
    });
    await printAction(session, answer);
    session.note(`Follow it: fundctl movements watch ${args.movementId}`);
  },
});

export const reject = command({
  name: 'reject',
  about: 'Refuse a movement that waits for its approval',
  args: MOVEMENT,
  options: { ...APPROVER, reason: text('text', 'why'), ...YES },
  answer: answerOf('rejectMovement'),
  run: async ({ session, args, options }) => {
    await confirmed(session, args.movementId, { question: 'Reject this?', yes: options.yes });
    const body = defined({
      approver_id: approverOf(session, options.approver),
      reason: options.reason,
    });
    const params = { movement_id: args.movementId };
    await printAction(session, await session.call('rejectMovement', { params, body }));
  },
});

export const resume = command({
  name: 'resume',
  about: 'Let a movement go on from its gate, or look again at an unknown outcome',
  args: MOVEMENT,
  options: { ...NODE, ...YES },
  answer: answerOf('resumeMovement'),
  run: async ({ session, args, options }) => {
    const { nodes, attention } = await confirmed(session, args.movementId, {
      question: 'Let it go on?',
      yes: options.yes,
    });
    const body = nodeToName('resume', { nodes, attention }, options.node);
    const params = { movement_id: args.movementId };
    await printAction(session, await session.call('resumeMovement', { params, body }));
  },
});

export const retry = command({
  name: 'retry',
  about: 'Try a failed node again, or ask again about an unknown one',
  args: MOVEMENT,
  options: { ...NODE, ...YES },
  answer: answerOf('retryMovement'),
  run: async ({ session, args, options }) => {
    const { nodes, attention } = await confirmed(session, args.movementId, {
      question: 'Try it again?',
      yes: options.yes,
    });
    const body = nodeToName('retry', { nodes, attention }, options.node);
    const params = { movement_id: args.movementId };
    await printAction(session, await session.call('retryMovement', { params, body }));
  },
});

export const cancel = command({
  name: 'cancel',
  about: 'Cancel a movement; what is under way is still followed to its end',
  args: MOVEMENT,
  options: YES,
  answer: answerOf('cancelMovement'),
  run: async ({ session, args, options }) => {
    await confirmed(session, args.movementId, { question: 'Cancel it?', yes: options.yes });
    const params = { movement_id: args.movementId };
    await printAction(session, await session.call('cancelMovement', { params }));
  },
});

export const resetAllowances = command({
  name: 'reset-allowances',
  about: 'Take back what a movement that has ended still allows others to pull',
  examples: ['fundctl movements reset-allowances <movement-id>'],
  args: MOVEMENT,
  options: YES,
  answer: answerOf('resetMovementAllowances'),
  run: async ({ session, args, options }) => {
    await confirmed(session, args.movementId, {
      question: 'Set its open allowances to 0?',
      yes: options.yes,
    });
    const params = { movement_id: args.movementId };
    const answer = await session.call('resetMovementAllowances', { params });
    await session.print(answer, () =>
      session.view.table(answer.resets, {
        NODE: 'node_key',
        MOVEMENT: 'movement_id',
        STATE: { state: 'request_state' },
      }),
    );
  },
});

export const acknowledge = command({
  name: 'acknowledge',
  about: 'Say that a failed movement has been dealt with; it then needs no person any more',
  details: 'It stays FAILED. A retry undoes it.',
  examples: ['fundctl movements acknowledge <movement-id> --reason "paid by hand, ticket 4711"'],
  args: MOVEMENT,
  options: { ...REASON, ...YES },
  answer: answerOf('acknowledgeMovement'),
  run: async ({ session, args, options }) => {
    await confirmed(session, args.movementId, { question: 'Acknowledge it?', yes: options.yes });
    const params = { movement_id: args.movementId };
    const body = { reason: options.reason };
    await printAction(session, await session.call('acknowledgeMovement', { params, body }));
  },
});

/** Shows what the movement moves and where it stands, and asks. */
export async function confirmed(
  session: Session,
  movementId: string,
  { question, yes }: { readonly question: string; readonly yes: boolean },
): Promise<ResultOf<'getMovement'>> {
  const { text: moves, movement } = await whatMoves(session, movementId);
  const { nodes, request_state } = movement;
  const { aside } = session;
  const stands = [
    aside.heading(`It is ${request_state}`),
    await aside.table(nodes, { NODE: 'node_key', STATE: { state: 'state' }, ERROR: 'error_code' }),
  ].join('');
  await session.confirm(question, { yes, what: moves + stands });
  return movement;
}

/**
 * The node that a resume or retry is meant for, as it was shown: the service's own offer, else the
 * one that waited longest. With it a command that is sent late, or twice, acts on no other.
 */
function nodeToName(
  action: 'resume' | 'retry',
  { nodes, attention }: Pick<ResultOf<'getMovement'>, 'nodes' | 'attention'>,
  wanted: string | undefined,
): NamedNode {
  const offered = attention?.actions.find((each) => each.action === action)?.node_key;
  const [longest] = nodes
    .filter(
      ({ node_kind, state: now }) =>
        now === 'UNKNOWN' ||
        (action === 'retry' ? now === 'FAILED' : node_kind === 'manual_gate' && now === 'READY'),
    )
    .sort((a, b) => (a.updated_at < b.updated_at ? -1 : 1));
  const key = wanted ?? offered ?? longest?.node_key;
  const node = nodes.find(({ node_key }) => node_key === key);
  if (wanted !== undefined && node === undefined)
    throw usageError(`The movement has no node ${wanted}.`);
  // Without one the service says why there is nothing to do.
  if (node === undefined) return {};
  return { node_key: node.node_key, attempt: node.attempt, state: node.state };
}

async function whatMoves(session: Session, movementId: string) {
  const { beyondLimit, planText, readPlan } = await import('../plan-view.ts');
  const read = await readPlan(session, movementId);
  const text = await planText(session, session.aside, read);
  return { hash: read.hash, movement: read.movement, text, beyond: beyondLimit(read) };
}

function approverOf({ settings }: Session, given: string | undefined): string {
  return given ?? settings.approver?.value ?? loginName();
}

/** A container's user may have no name. */
function loginName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    const message = 'Your login has no name: say with --approver or SVC_APPROVER who decides.';
    throw usageError(message, { cause: error });
  }
}

/** As the service would say it; nobody is asked about what can no longer be. */
function wrongState(now: string, what: string, allowed: readonly string[]): CommandError {
  return new CommandError(
    EXIT.refused,
    `invalid_state: a movement that is ${now} cannot be ${what}; it must be ${allowed.join(' or ')}.`,
  );
}

type Action = ResultOf<'approveMovement'>;
type NamedNode = NonNullable<BodyOf<'resumeMovement'>>;

/** What every action answers. */
export function printAction(session: Session, answer: Action): Promise<void> {
  return session.print(answer, () =>
    session.view.fields(answer, {
      movement: 'movement_id',
      state: { state: 'request_state' },
      'runs now': () => answer.current_frontier.join(', ') || null,
      reservation: 'reservation_status',
    }),
  );
}
