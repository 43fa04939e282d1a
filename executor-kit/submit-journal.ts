/**
 * The journal of an executor: which idempotency keys it received, and what became of them. The
 * order makes an executor safe: first the key is written, then the money moves, then the reference
 * is written. After any interruption the journal shows for which keys something may have happened.
 */
import canonicalize from 'canonicalize';
import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import { jsonObject } from '../executors/json-object.ts';
import { openAppendLog, type AppendLog } from './append-log.ts';
import { Rejected } from './answers.ts';
import { lockPath } from './lock.ts';

/** States of an entry, in the order in which it may pass through them. */
const STATES = ['INTENDED', 'ACCEPTED', 'COMPLETED', 'FAILED'] as const;

export interface JournalEntry {
  readonly key: string;
  /**
   * INTENDED: something may have been sent. ACCEPTED: it was sent, as external_ref. COMPLETED and
   * FAILED are final.
   */
  readonly state: (typeof STATES)[number];
  /** The action to be done, as `begin` received it. */
  readonly intention: JsonObject;
  readonly external_ref?: string;
  readonly note?: string;
  /** Time of the last write, ISO 8601. */
  readonly at: string;
}
export type JournalChange = Partial<Pick<JournalEntry, 'state' | 'external_ref' | 'note'>>;

const entrySchema = z.object({
  key: z.string(),
  state: z.enum(STATES),
  intention: jsonObject({ maxBytes: 512 * 1024, maxDepth: 32 }),
  external_ref: z.string().exactOptional(),
  note: z.string().exactOptional(),
  at: z.string(),
}) satisfies z.ZodType<JournalEntry>;

export interface Journal {
  get(key: string): JournalEntry | undefined;
  /**
   * Writes the key and the intended action before anything is done; returns the entry unchanged if
   * the key is known.
   *
   * @throws Rejected (409) when the key is known for another action.
   */
  begin(key: string, intention: JsonObject): JournalEntry;
  /** Writes the present state of the entry. A final state and a reference never change. */
  update(key: string, change: JournalChange): JournalEntry;
  /**
   * Runs `work` while no other work for the same key runs, so that several submits at the same time
   * run one after another.
   */
  exclusively<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Returns all entries, oldest first. */
  entries(): readonly JournalEntry[];
  close(): void;
}

/**
 * Opens the journal in `file`. Keeps all entries in memory, which is fine for some hundred thousand
 * entries.
 *
 * @throws Error when the file is damaged or another process uses it.
 */
export async function openJournal(
  file: string,
  options: { readonly lockWaitMs?: number } = {},
): Promise<Journal> {
  // Locked before the file is read: opening cuts off a half-written last line, which another
  // process may be writing just now.
  const unlock = await lockPath(file, options.lockWaitMs ?? 5_000);
  try {
    return journalOver(openAppendLog(file), unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

function journalOver(log: AppendLog, unlock: () => void): Journal {
  const entries = new Map<string, JournalEntry>();
  for (const line of log.lines) {
    const entry = entrySchema.parse(line);
    entries.set(entry.key, entry);
  }
  const write = (entry: JournalEntry): JournalEntry => {
    log.append(entry);
    entries.set(entry.key, entry);
    return entry;
  };
  return {
    get: (key) => entries.get(key),
    begin: (key, intention) => {
      const known = entries.get(key);
      if (known === undefined)
        return write({ key, state: 'INTENDED', intention, at: new Date().toISOString() });
      if (canonicalize(known.intention) === canonicalize(intention)) return known;
      throw new Rejected('KEY_REUSED', 'this idempotency key was used for something else', 409);
    },
    update: (key, change) => {
      const known = entries.get(key);
      if (known === undefined) throw new Error('call begin for a key before update');
      mustBeLegal(known, change);
      return write({ ...known, ...change, at: new Date().toISOString() });
    },
    exclusively: oneAtATime(),
    entries: () => [...entries.values()],
    close: () => {
      log.close();
      unlock();
    },
  };
}

function mustBeLegal(known: JournalEntry, change: JournalChange): void {
  const state = change.state ?? known.state;
  const isFinal = known.state === 'COMPLETED' || known.state === 'FAILED';
  if (isFinal ? state !== known.state : STATES.indexOf(state) < STATES.indexOf(known.state)) {
    throw new Error(`an entry in state ${known.state} cannot become ${state}`);
  }
  if (
    known.external_ref !== undefined &&
    (change.external_ref ?? known.external_ref) !== known.external_ref
  ) {
    throw new Error(
      'the reference of an entry cannot change: a second reference means a second effect',
    );
  }
}

function oneAtATime(): Journal['exclusively'] {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine.catch(() => undefined);
    last.set(key, settled);
    try {
      return await mine;
    } finally {
      if (last.get(key) === settled) last.delete(key);
    }
  };
}
