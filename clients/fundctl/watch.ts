/** Follows a movement: redraws its graph on a terminal, else prints one line for each change. */
import { setTimeout as sleep } from 'node:timers/promises';
import { drawGraph } from '../command-line/graph.ts';
import { CommandError, EXIT } from '../command-line/exit.ts';
import type { Session } from '../command-line/session.ts';
import { printable } from '../command-line/printable.ts';
import { timeOfDay } from '../command-line/words.ts';
import { ApiError, UnreachableError } from '../http/errors.ts';
import { MOVEMENT_END_STATES } from '../http/generated/states.ts';
import type { ResultOf } from '../http/operations.ts';
import { attentionText, type Movement } from './movement-view.ts';

type Graph = ResultOf<'getMovementGraph'>;

/** Wait between the first polls. Two polls a second would use up the key's limit per minute. */
const FIRST_LOOKS_MS = 1_000;
const LOOK_MS = 2_000;
const FIRST_LOOKS = 10;
/** How long polling continues after the service stopped answering. */
const PATIENCE_MS = 60_000;

export interface WatchOptions {
  readonly until: readonly string[];
  readonly timeoutMs: number | null;
}

/** Follows the movement until it has ended, or until it is in one of the `until` states. */
export async function watchMovement(
  session: Session,
  movementId: string,
  { until, timeoutMs }: WatchOptions,
): Promise<Movement> {
  const client = await session.client();
  const params = { movement_id: movementId };
  const shown = new Shown(session);
  const end = timeoutMs === null ? null : Date.now() + timeoutMs;
  for (let look = 0; ; look += 1) {
    const draw = () => client.call('getMovementGraph', { params });
    const read = () => patiently(session, end, () => client.call('getMovement', { params }));
    // The first poll is not retried: without a first answer the movement may not exist.
    const graph = look === 0 ? await draw() : await patiently(session, end, draw);
    if (shown.isNew(graph)) await shown.show(await read(), graph);
    const { request_state } = graph;
    if (until.includes(request_state) || isEnded(request_state)) return read();
    const pause = look < FIRST_LOOKS ? FIRST_LOOKS_MS : LOOK_MS;
    if (end !== null && Date.now() + pause > end)
      throw new CommandError(
        EXIT.timedOut,
        `Movement ${movementId} is still ${request_state} after ${String((timeoutMs ?? 0) / 1000)} s; it goes on without you.`,
      );
    await sleep(pause, undefined, { signal: session.io.signal }).catch(() =>
      session.stopIfInterrupted(),
    );
  }
}

export function isEnded(requestState: string): boolean {
  return MOVEMENT_END_STATES.some((each) => each === requestState);
}

async function patiently<T>(
  session: Session,
  latest: number | null,
  look: () => Promise<T>,
): Promise<T> {
  for (const end = Math.min(Date.now() + PATIENCE_MS, latest ?? Infinity); ;) {
    try {
      return await look();
    } catch (error) {
      const passes =
        error instanceof UnreachableError || (error instanceof ApiError && error.status >= 500);
      if (!passes || Date.now() > end) throw error;
      session.note('The service does not answer; the movement goes on, and this keeps trying.');
      await sleep(LOOK_MS, undefined, { signal: session.io.signal }).catch(() =>
        session.stopIfInterrupted(),
      );
    }
  }
}

/** Shows the changes of a movement, and remembers what it showed last. */
class Shown {
  readonly #session: Session;
  readonly #inPlace: boolean;
  #text = '';
  #lines = 0;
  readonly #states = new Map<string, string>();

  constructor(session: Session) {
    this.#session = session;
    const { io } = session;
    this.#inPlace = !session.json && io.terminal.out && io.env['TERM'] !== 'dumb';
  }

  isNew(graph: Graph): boolean {
    const text = JSON.stringify(graph);
    const changed = text !== this.#text;
    this.#text = text;
    return changed;
  }

  async show(movement: Movement, graph: Graph): Promise<void> {
    const { io, json } = this.#session;
    if (json) await this.#session.printLine(movement, () => '');
    else if (this.#inPlace) this.#redraw(movement, graph);
    else io.out(this.#changes(movement));
  }

  #redraw(movement: Movement, graph: Graph): void {
    const { io, view } = this.#session;
    const head = view.fields(movement, {
      movement: 'movement_id',
      state: { state: 'request_state' },
    });
    const text = head + view.graph(drawGraph(graph)) + attentionText(view, movement);
    // Moves up to the first line and clears below; without line wrap the lines can be counted.
    const back = this.#lines === 0 ? '' : `\u001b[${String(this.#lines)}A\u001b[0J`;
    io.out(`${back}\u001b[?7l${text}\u001b[?7h`);
    this.#lines = text.split('\n').length - 1;
  }

  #changes(movement: Movement): string {
    const time = timeOfDay();
    const lines = [
      ['movement', movement.request_state, movement.error_code ?? ''] as const,
      ...movement.nodes.map(
        ({ node_key, state: now, error_code }) => [node_key, now, error_code ?? ''] as const,
      ),
      ['needs', movement.attention?.reason ?? '', movement.attention?.message ?? ''] as const,
    ];
    return lines
      .filter(([name, now]) => {
        const before = this.#states.get(name) ?? '';
        this.#states.set(name, now);
        return before !== now && now !== '';
      })
      .map(([name, now, more]) => printable(`${time}  ${name}  ${now}  ${more}`).trimEnd() + '\n')
      .join('');
  }
}
