/** Reads events from the database once for all streams of this process; idle without streams. */
import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import { ServiceError } from '../../domain/errors.ts';
import { startLoop, type Loop } from '../../platform/loop.ts';
import { within } from '../../platform/time-limit.ts';
import type { ConsoleEvent, ConsoleEvents, EventPosition } from '../../store/console-events.ts';

/** Milliseconds between two reads: the longest delay of an event, besides the read itself. */
const EVERY_MS = 250;
/** Milliseconds within which every stream gets at least one event; a quieter stream is broken. */
const BEAT_MS = 15_000;
/** Milliseconds without the database after which streams end: their data would be outdated. */
const DEAF_MS = 5_000;
const PAGE = 500;
/** Number of events kept for readers that reconnect. */
const RING = 2_000;
/** A reader that has missed more events than this must read everything again. */
const CATCH_UP = 2_000;

/** Receives events. Both methods get only whole events. */
export interface Listener {
  send(text: string): void;
  /** Sends the last text and ends the stream: this process's feed is over. */
  end(text: string): void;
}

export interface ConsoleFeed {
  /**
   * Sends the events after a cursor, or new events only without a cursor. Resolves with a function
   * that stops the sending. A malformed cursor, or one after which events may be missing, gets
   * `reset`.
   */
  join(cursor: string | undefined, listener: Listener): Promise<() => void>;
  /** Ends every stream, with a hint when to reconnect. */
  close(): void;
}

/** The new head, and whether there are more events after it. */
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

  /**
   * Runs one task at a time, so that a new listener gets every event exactly once: those before the
   * head on its own, later ones with all listeners.
   */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work);
    turn = mine.catch(() => undefined);
    return mine;
  };
  const readInTime: ReadEvents = (after, atMost) => within(read(after, atMost), DEAF_MS);
  const sendAll = (text: string): void => {
    if (text !== '') for (const listener of listeners) listener.send(text);
  };

  /** Reads the next page of events, sends it to all listeners and moves the head forward. */
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
        // Without listeners no events were read, so the head is out of date.
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

/** Returns the cursor text of a position, for readers that reconnect. */
function cursorOf({ epoch, xid, id }: EventPosition): string {
  return `${epoch}.${String(xid)}.${String(id)}`;
}

/** Returns the position of a cursor text; null for a malformed text. */
function parseCursor(cursor: string): EventPosition | null {
  const [, epoch, xid, id] = /^([0-9a-f]{12})\.(\d{1,20})\.(\d{1,19})$/.exec(cursor) ?? [];
  if (epoch === undefined || xid === undefined || id === undefined) return null;
  const position = { epoch, xid: BigInt(xid), id: BigInt(id) };
  return position.xid < 2n ** 64n && position.id < 2n ** 63n ? position : null;
}

function isBefore(a: EventPosition, b: EventPosition): boolean {
  return a.xid < b.xid || (a.xid === b.xid && a.id < b.id);
}

/** Returns the event's text; empty for a deleted row, whose cursor comes with the next event. */
function eventText({ kind, shown, position }: ConsoleEvent): string {
  return shown === null
    ? ''
    : `id: ${cursorOf(position)}\nevent: ${kind}\ndata: ${JSON.stringify(shown)}\n\n`;
}

function resetAt(position: EventPosition): string {
  return `id: ${cursorOf(position)}\nevent: reset\ndata: {}\n\n`;
}

/**
 * Returns a beat, which moves the reader's cursor forward. The beat is an event, since scripts in a
 * browser do not see comments of a stream.
 */
function beat(position: EventPosition): string {
  return `:\nid: ${cursorOf(position)}\nevent: beat\ndata: {}\n\n`;
}
