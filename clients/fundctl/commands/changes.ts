/** `fundctl changes`: changes that wait for the approvals of people. */
import { REQUEST_KINDS } from '../../../domain/approval/power.ts';
import { answerOf, command, type Group } from '../../command-line/command.ts';
import { CommandError, EXIT, usageError } from '../../command-line/exit.ts';
import { operation, YES, type With } from '../../command-line/operation.ts';
import { choice, flag, text } from '../../command-line/options.ts';
import { listing } from '../../command-line/paging.ts';
import { failure } from '../../command-line/words.ts';
import {
  CHANGE_STATES,
  changeState,
  changeText,
  decidedText,
  missingIn,
  readChange,
  standingOf,
} from '../changes-view.ts';

const CHANGE = { changeRequestId: 'id of the change request' };

export const changes: Group = {
  name: 'changes',
  about: 'Changes that let more money go, and wait for people',
  commands: [
    listing('listChangeRequests', {
      name: 'list',
      about: 'List change requests, newest first',
      examples: ['fundctl changes list --state open', 'fundctl changes list --break-glass --all'],
      options: {
        state: choice(CHANGE_STATES, 'only those in this state'),
        kind: choice(REQUEST_KINDS, 'only those of this kind'),
        breakGlass: flag('only what the owner of the database changed alone'),
      },
      query: ({ state, kind, breakGlass }) => ({
        state,
        kind,
        break_glass: breakGlass ? true : undefined,
      }),
      columns: {
        ID: 'change_request_id',
        KIND: 'kind',
        STATE: changeState,
        AUTHOR: 'author',
        CALL: ({ method, path }) => `${method} ${path}`,
        MISSING: { right: missingIn },
        CREATED: { when: 'created_at' },
      },
    }),
    operation('getChangeRequest', {
      name: 'show',
      about: 'Show a change request: the call, what changes and what moves, and who approved',
      args: CHANGE,
      input: ofChange,
      show: (session, change) => changeText(session, session.view, change),
    }),
    command({
      name: 'approve',
      about: 'Read what a change request would change, and approve exactly that',
      details:
        'Shows the call and each field that changes from the bytes of the document, and what the movements that it acts on move; makes the hash of those bytes here, asks, and approves that hash. The last approval that is needed makes the change. With --yes it does not ask, so the hash of what was read must be named.',
      examples: [
        'fundctl changes approve <change-request-id>',
        'fundctl changes approve <change-request-id> --hash <hash> --reason "checked" --yes',
      ],
      args: CHANGE,
      options: {
        hash: text('hex', 'approve only if this is the hash, as it was read before'),
        reason: text('text', 'why; an approval rule may require it'),
        ...YES,
      },
      answer: answerOf('approveChangeRequest'),
      run: async ({ session, args, options: { hash, reason, yes } }) => {
        if (yes && hash === undefined)
          throw usageError(
            `With --yes, name with --hash what was read: fundctl changes show ${args.changeRequestId} prints the hash.`,
          );
        const read = await readChange(session, args.changeRequestId);
        const { state } = read.change;
        if (state !== 'open')
          throw new CommandError(
            EXIT.refused,
            `change_request_ended: a change request that is ${state} cannot be approved.`,
          );
        if (hash !== undefined && hash.toLowerCase() !== read.hash)
          throw failure(`The request's hash is ${read.hash}, which differs from --hash.`);
        await session.confirm('Approve this?', {
          yes,
          what: await changeText(session, session.aside, read.change, read),
        });
        const answer = await session.call('approveChangeRequest', {
          ...ofChange({ args }),
          body: { hash: read.hash, reason },
        });
        await session.print(answer, () => decidedText(session, answer));
        if (answer.state === 'failed' || answer.state === 'outdated')
          throw failure(standingOf(answer));
      },
    }),
    operation('withdrawChangeRequestApproval', {
      name: 'withdraw-approval',
      about: 'Take your own approval back, while the change request is open',
      details: 'You may approve it again.',
      args: CHANGE,
      ask: 'Withdraw your approval?',
      what: standing,
      input: ofChange,
      show: decidedText,
    }),
    operation('rejectChangeRequest', {
      name: 'reject',
      about: 'Refuse a change request; nothing is changed',
      args: CHANGE,
      options: { reason: text('text', 'why') },
      ask: 'Reject this?',
      what: standing,
      input: ({ args, options }) => ({ ...ofChange({ args }), body: options }),
      show: decidedText,
    }),
    operation('withdrawChangeRequest', {
      name: 'withdraw',
      about: 'Take your own change request back; nothing is changed',
      args: CHANGE,
      ask: 'Withdraw this?',
      what: standing,
      input: ofChange,
      show: decidedText,
    }),
  ],
};

function ofChange({ args }: Pick<With<{ readonly changeRequestId: string }>, 'args'>) {
  return { params: { change_request_id: args.changeRequestId } };
}

/** Returns the request as it is now: the text shown before each confirmation. */
async function standing({ session, args }: With<{ readonly changeRequestId: string }>) {
  const change = await session.call('getChangeRequest', ofChange({ args }));
  return changeText(session, session.aside, change);
}
