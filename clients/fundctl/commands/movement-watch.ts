/** The command `fundctl movements watch`. */
import { MOVEMENT_STATES } from '../../../domain/states/movement.ts';
import { command } from '../../command-line/command.ts';
import { usageError } from '../../command-line/exit.ts';
import { many, whole } from '../../command-line/options.ts';
import { failure } from '../../command-line/words.ts';
import { MOVEMENT_OR_BEGINNING, wholeId } from '../short-ids.ts';

export const watch = command({
  name: 'watch',
  about: 'Follow a movement until it has ended; Ctrl-C stops looking and changes nothing',
  details:
    'On a terminal the graph is drawn anew at each change, else there is a line for each. With --output json each change is the movement on a line of its own. Ends with 0 when it is COMPLETED or in a state of --until, with 1 when it has ended otherwise, with 5 when the time is over.',
  examples: ['fundctl movements watch <movement-id> --until WAITING_MANUAL_ACTION --timeout 60'],
  args: MOVEMENT_OR_BEGINNING,
  options: {
    until: many('state', 'end in this state too'),
    timeout: whole('seconds', 'how long at most'),
  },
  answer: { operation: 'getMovement', lines: true },
  run: async ({ session, args, options }) => {
    const unknown = options.until.find((each) => !MOVEMENT_STATES.some((state) => state === each));
    if (unknown !== undefined)
      throw usageError(`--until ${unknown} is no state; there are ${MOVEMENT_STATES.join(', ')}.`);
    const { watchMovement } = await import('../watch.ts');
    const { until, timeout } = options;
    const timeoutMs = timeout === undefined ? null : timeout * 1000;
    const id = await wholeId(session, args.movementId);
    const ended = await watchMovement(session, id, { until, timeoutMs });
    const { request_state: state, error_code: code } = ended;
    if (state !== 'COMPLETED' && !until.includes(state))
      throw failure(`Movement ${id} ended ${state}${code === null ? '' : `: ${code}`}.`);
  },
});
