/** Commands with which a person decides about a whole movement. */
import { userInfo } from 'node:os';
import { answerOf, command } from '../../command-line/command.ts';
import { CommandError, EXIT, usageError } from '../../command-line/exit.ts';
import { operation, YES, type With } from '../../command-line/operation.ts';
import { choice, flag, text } from '../../command-line/options.ts';
import type { Session } from '../../command-line/session.ts';
import { failure } from '../../command-line/words.ts';
import { ATTENTION_REASONS } from '../../../domain/attention-reasons.ts';
import type { BodyOf, ResultOf } from '../../http/operations.ts';
import { approvalsText } from '../approvals-view.ts';
import type { Movement } from '../movement-view.ts';
import { MOVEMENT, REASON } from '../shared.ts';

const APPROVER = {
  approver: text(
    'label',
    'who decides, as a label beside the key (SVC_APPROVER, approver of a profile, else the name of your login)',
  ),
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
    reason: text('text', 'why; an approval rule may require it'),
    ...YES,
  },
  answer: answerOf('approveMovement'),
  run: async ({ session, args, options }) => {
    const params = { movement_id: args.movementId };
    const what = await whatMoves(session, args.movementId);
    const { request_state: now } = what.movement;
    if (now !== 'PENDING_APPROVAL') throw wrongState(now, 'approved', ['PENDING_APPROVAL']);
    if (options.hash !== undefined && options.hash.toLowerCase() !== what.hash)
      throw failure(`The plan's hash is ${what.hash}, which differs from --hash.`);
    if (what.beyond !== null && !options.overLimit)
      throw failure(`${what.beyond} It is approved only with --over-limit.`);
    const approver_id = approverOf(session, options.approver);
    await session.confirm('Approve this?', { yes: options.yes, what: what.text });
    const answer = await session.call('approveMovement', {
      params,
      body: { compiled_plan_hash: what.hash, approver_id, reason: options.reason },
    });
    await session.print(answer, () => approvedText(session, answer));
    session.note(`Follow it: fundctl movements watch ${args.movementId}`);
  },
});

export const withdrawApproval = operation('withdrawApproval', {
  name: 'withdraw-approval',
  about: 'Take your own approval back, while the movement waits for those of others',
  details: 'You may approve it again. What is approved is not taken back: cancel it.',
  examples: ['fundctl movements withdraw-approval <movement-id>'],
  args: MOVEMENT,
  ask: 'Withdraw your approval?',
  what: standing,
  input: ofMovement,
  show: approvedText,
});

export const reject = operation('rejectMovement', {
  name: 'reject',
  about: 'Refuse a movement that waits for its approval',
  args: MOVEMENT,
  options: { ...APPROVER, reason: text('text', 'why') },
  ask: 'Reject this?',
  what: standing,
  input: ({ session, args, options: { approver, reason } }) => ({
    ...ofMovement({ args }),
    body: { approver_id: approverOf(session, approver), reason },
  }),
  show: actionText,
});

export const resume = continuing('resume', {
  about: 'Let a movement go on from its gate, or look again at an unknown outcome',
  question: 'Let it go on?',
});

export const retry = continuing('retry', {
  about: 'Try a failed node again, or ask again about an unknown one',
  question: 'Try it again?',
});

export const cancel = operation('cancelMovement', {
  name: 'cancel',
  about: 'Cancel a movement; what is under way is still followed to its end',
  args: MOVEMENT,
  ask: 'Cancel it?',
  what: standing,
  input: ofMovement,
  show: actionText,
});

export const resetAllowances = operation('resetMovementAllowances', {
  name: 'reset-allowances',
  about: 'Take back what a movement that has ended still allows others to pull',
  examples: ['fundctl movements reset-allowances <movement-id>'],
  args: MOVEMENT,
  ask: 'Set its open allowances to 0?',
  what: standing,
  input: ofMovement,
  show: ({ view }, { resets }) =>
    view.table(resets, {
      NODE: 'node_key',
      MOVEMENT: 'movement_id',
      STATE: { state: 'request_state' },
    }),
});

export const acknowledge = command({
  name: 'acknowledge',
  about: 'Mark a failure or a late landing as dealt with, so that it no longer waits for a person',
  details:
    'The movement stays as it is. Deals with the reason that is shown, and with no other that has come since. A retry undoes it for a failure.',
  examples: [
    'fundctl movements acknowledge <movement-id> --reason "paid by hand, ticket 4711"',
    'fundctl movements acknowledge <movement-id> --about landed_late --reason "ticket 4712"',
  ],
  args: MOVEMENT,
  options: {
    ...REASON,
    about: choice(
      ATTENTION_REASONS,
      'only if this is among the reasons why it needs a person, as movements show names it',
    ),
    ...YES,
  },
  answer: answerOf('acknowledgeMovement'),
  run: async ({ session, args, options: { reason, about, yes } }) => {
    const { movement, text: moves } = await whatMoves(session, args.movementId);
    const offer = movement.attention?.actions.find(
      ({ action, attention_reason }) =>
        action === 'acknowledge' && (about === undefined || attention_reason === about),
    );
    const shown =
      movement.attention === null
        ? ''
        : session.aside.heading('It needs a person') +
          session.aside.fields(movement.attention, {
            acknowledged: () => offer?.attention_reason ?? about ?? null,
            node: () => offer?.node_key ?? null,
            'what is the matter': 'message',
          });
    await session.confirm('Acknowledge it?', {
      yes,
      what: moves + (await statesText(session, movement)) + shown,
    });
    // A service of the release before names no reason, and takes none.
    const body = {
      reason,
      attention_reason: offer?.attention_reason ?? about,
      node_key: offer?.attention_reason === undefined ? undefined : offer.node_key,
    };
    const answer = await session.call('acknowledgeMovement', { ...ofMovement({ args }), body });
    await session.print(answer, () => actionText(session, answer));
  },
});

function ofMovement({ args }: { readonly args: { readonly movementId: string } }) {
  return { params: { movement_id: args.movementId } };
}

/** Returns what the movement moves, and its state: the text shown before each confirmation. */
export async function standing({ session, args }: With<{ readonly movementId: string }>) {
  const { movement, text: moves } = await whatMoves(session, args.movementId);
  return moves + (await statesText(session, movement));
}

async function statesText({ aside }: Session, movement: Movement): Promise<string> {
  const { nodes, request_state } = movement;
  return [
    aside.heading(`It is ${request_state}`),
    await aside.table(nodes, { NODE: 'node_key', STATE: { state: 'state' }, ERROR: 'error_code' }),
  ].join('');
}

/** Returns the command `resume` or `retry`; its request names the plan node that was shown. */
function continuing(
  name: 'resume' | 'retry',
  { about, question }: { readonly about: string; readonly question: string },
) {
  const id = `${name}Movement` as const;
  return command({
    name,
    about,
    args: MOVEMENT,
    options: { node: text('key', 'only if this is the node that would go on'), ...YES },
    answer: answerOf(id),
    run: async ({ session, args, options: { node, yes } }) => {
      const { movement, text: moves } = await whatMoves(session, args.movementId);
      await session.confirm(question, { yes, what: moves + (await statesText(session, movement)) });
      const body = nodeToName(name, movement, node);
      const answer = await session.call(id, { ...ofMovement({ args }), body });
      await session.print(answer, () => actionText(session, answer));
    },
  });
}

/**
 * Returns the plan node that a resume or retry acts on: the requested node, else the node that the
 * service offers, else the node that waited longest. The request names this node, so that a command
 * that is sent late or twice acts on no other node.
 */
function nodeToName(
  action: 'resume' | 'retry',
  { nodes, attention }: Movement,
  wanted: string | undefined,
): NonNullable<BodyOf<'resumeMovement'>> {
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
  // Without a node in the request, the service reports why the movement cannot continue.
  if (node === undefined) return {};
  return { node_key: node.node_key, attempt: node.attempt, state: node.state };
}

async function whatMoves(session: Session, movementId: string) {
  const { beyondLimit, planText, readPlan } = await import('../plan-view.ts');
  const read = await readPlan(session, movementId);
  const text = await planText(session, session.aside, read);
  return { hash: read.hash, movement: read.movement, text, beyond: beyondLimit(read) };
}

function approverOf({ settings }: Session, flag: string | undefined): string {
  return flag ?? settings.approver?.value ?? loginName();
}

/** Returns the user's login name; throws when the user has no name, as in some containers. */
function loginName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    const message = 'Your login has no name: name the approver with --approver or SVC_APPROVER.';
    throw usageError(message, { cause: error });
  }
}

/** Returns the error that the service would return; used before the user has to confirm. */
function wrongState(now: string, what: string, allowed: readonly string[]): CommandError {
  return new CommandError(
    EXIT.refused,
    `invalid_state: a movement that is ${now} cannot be ${what}; it must be ${allowed.join(' or ')}.`,
  );
}

/** Returns the answer of an approval as text, with what is missing while others must approve. */
async function approvedText(
  session: Session,
  answer: ResultOf<'approveMovement'>,
): Promise<string> {
  const { approvals } = answer;
  const missing = approvals === undefined ? '' : await approvalsText(session.view, approvals);
  return actionText(session, answer) + missing;
}

/** Returns the answer of a movement action as text. */
export function actionText({ view }: Session, answer: ResultOf<'approveMovement'>): string {
  return view.fields(answer, {
    movement: 'movement_id',
    state: { state: 'request_state' },
    'runs now': () => answer.current_frontier.join(', ') || null,
    reservation: 'reservation_status',
  });
}
