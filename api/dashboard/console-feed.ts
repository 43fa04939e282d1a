/**
 * What every stream of this process receives: one reader of the database for all of them, which is
 * idle without streams.
 */
import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import { ServiceError } from '../../domain/errors.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';
import { within } from '../../platform/time-limit.ts';
import type { ConsoleEvent, ConsoleEvents, EventPosition } from '../../store/console-events.ts';

/** The longest delay of a change before it is sent, in addition to the reading itself. */
const EVERY_MS = 250;
/** A reader receives something at least this often; a stream that is quiet for longer is broken. */
const BEAT_MS = 15_000;
/** After this time without the database, streams end: they would show old data as new. */
const DEAF_MS = 5_000;
const PAGE = 500;
/** Events that are kept for those who come back. */
const RING = 2_000;
/** A reader that has missed more than this reads everything again. */
const CATCH_UP = 2_000;

/** Who is sent events. Both are called with whole events alone. */
export interface Listener {
  send(text: string): void;
  /** The feed is over for this process. */
  end(text: string): void;
}

export interface ConsoleFeed {
  /**
   * Sends everything behind a cursor, or from now on without one, until what it resolves with is
   * called. A cursor behind which something may be missing, or that is none, is sent `reset`.
   */
  join(cursor: string | undefined, listener: Listener): Promise<() => void>;
  /** Ends every stream, with a hint when to come again. */
  close(): void;
}

/** The head, and whether there is more behind it. */
interface Advance {
  readonly position: EventPosition;
  readonly more: boolean;
}

export type ReadEvents = (after: EventPosition | null, atMost: number) => Promise<ConsoleEvents>;

export function createConsoleFeed({
  read,
  log,
}: {
  readonly read: ReadEvents;
  readonly log: Logger;
}): ConsoleFeed {
  const listeners = new Set<Listener>();
  let loop: Loop | null = null;
  /** The position up to which all listeners have received everything; null without listeners. */
  let head: EventPosition | null = null;
  let ring: { start: EventPosition | null; events: ConsoleEvent[] } = { start: null, events: [] };
  let lastRead = 0;
  let lastBeat = 0;
  let closed = false;
  let turn: Promise<unknown> = Promise.resolve();

  /** One at a time: a new listener receives what lies before the head, all receive what follows. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work);
    turn = mine.catch(() => undefined);
    return mine;
  };
  const readInTime: ReadEvents = (after, atMost) => within(read(after, atMost), DEAF_MS);
  const sendAll = (text: string): void => {
    if (text !== '') for (const listener of listeners) listener.send(text);
  };

  /** Brings the head to now, or a page nearer to it. */
  const advance = async (): Promise<Advance> => {
    const { events, position, isLost } = await readInTime(head, PAGE);
    lastRead = performance.now();
    if (head === null || isLost) {
      if (isLost) sendAll(resetAt(position));
      head = position;
      ring = { start: position, events: [] };
      return { position, more: false };
    }
    sendAll(events.map(eventText).join(''));
    head = position;
    ring.events.push(...events);
    const dropped = ring.events.splice(0, ring.events.length - RING).at(-1);
    if (dropped !== undefined) ring.start = dropped.position;
    return { position, more: events.length === PAGE };
  };

  const missedSince = async (cursor: string, until: EventPosition): Promise<string> => {
    let from = parseCursor(cursor);
    if (from === null || from.epoch !== until.epoch || isBefore(until, from)) return resetAt(until);
    const { start, events } = ring;
    const texts = (missed: readonly ConsoleEvent[]): string =>
      missed.map(eventText).join('') + beat(until);
    if (start !== null && !isBefore(from, start)) {
      const known = from;
      return texts(events.filter(({ position }) => isBefore(known, position)));
    }
    const missed: ConsoleEvent[] = [];
    while (isBefore(from, until)) {
      const page = await readInTime(from, PAGE);
      if (page.isLost || missed.length > CATCH_UP) return resetAt(until);
      missed.push(...page.events.filter(({ position }) => !isBefore(until, position)));
      from = page.position;
    }
    return texts(missed);
  };

  const work = async (): Promise<boolean> => {
    try {
      const { position, more } = await inTurn(advance);
      if (performance.now() - lastBeat >= BEAT_MS) {
        lastBeat = performance.now();
        sendAll(beat(position));
      }
      return more;
    } catch (error) {
      if (performance.now() - lastRead >= DEAF_MS) endAll();
      throw error;
    }
  };
  const endAll = (): void => {
    const ending = [...listeners];
    for (const listener of ending) {
      leave(listener);
      listener.end(`retry: ${String(randomInt(1_000, 3_001))}\n\n`);
    }
  };
  const leave = (listener: Listener): void => {
    listeners.delete(listener);
    if (listeners.size > 0 || loop === null) return;
    void loop.stop();
    loop = null;
  };

  return {
    join: (cursor, listener) =>
      inTurn(async () => {
        if (closed) throw new ServiceError('overloaded');
        // The head is of a time after which nothing was read.
        if (listeners.size === 0) head = null;
        let now = await advance();
        while (now.more) now = await advance();
        listener.send(
          cursor === undefined ? beat(now.position) : await missedSince(cursor, now.position),
        );
        listeners.add(listener);
        loop ??= startLoop({ name: 'console feed', pauseMs: EVERY_MS, log, work });
        return () => {
          leave(listener);
        };
      }),
    close: () => {
      closed = true;
      endAll();
    },
  };
}

/** The text of a position, for those who come back. */
function cursorOf({ epoch, xid, id }: EventPosition): string {
  return `${epoch}.${String(xid)}.${String(id)}`;
}

/** The position of a text; null for one that is none. */
function parseCursor(cursor: string): EventPosition | null {
  const [, epoch, xid, id] = /^([0-9a-f]{12})\.(\d{1,20})\.(\d{1,19})$/.exec(cursor) ?? [];
  if (epoch === undefined || xid === undefined || id === undefined) return null;
  const position = { epoch, xid: BigInt(xid), id: BigInt(id) };
  return position.xid < 2n ** 64n && position.id < 2n ** 63n ? position : null;
}

function isBefore(a: EventPosition, b: EventPosition): boolean {
  return a.xid < b.xid || (a.xid === b.xid && a.id < b.id);
}

/** Deleted rows are not shown; their cursor comes with the next event. */
function eventText({ kind, shown, position }: ConsoleEvent): string {
  return shown === null
    ? ''
    : `id: ${cursorOf(position)}\nevent: ${kind}\ndata: ${JSON.stringify(shown)}\n\n`;
}

function resetAt(position: EventPosition): string {
  return `id: ${cursorOf(position)}\nevent: reset\ndata: {}\n\n`;
}

/** Moves the reader's cursor on. An event, since a page in a browser is shown no comment. */
function beat(position: EventPosition): string {
  return `:\nid: ${cursorOf(position)}\nevent: beat\ndata: {}\n\n`;
}
