/**
 * What the whole service costs while nothing happens and many movements wait for their approval:
 * every process with all its loops, its Postgres and its Temporal.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { WHOLE_TURNS } from '../../activities/relays/sweeper.ts';
import { cpuBetween, CPU_IS_KNOWN, sumOf } from '../cpu.ts';
import { RATIO } from '../goals.ts';
import { quiet } from '../load/quiet.ts';
import type { BenchStack } from '../stack.ts';
import { chain } from '../templates.ts';
import { until } from '../until.ts';
import { movements, type Section } from './context.ts';

const LEVELS = [0, 1_000, 10_000];
const QUICK_LEVELS = [0, 100];
const PARTS = ['postgres', 'temporal', 'worker', 'api'] as const;
const WINDOW_MS = 60_000;
const QUICK_WINDOW_MS = 5_000;
const NODES = 3;
/** After so much was created processes give memory back for more than a minute. */
const SETTLE_MS = 90_000;
/** How often the sweeper has a turn over those that wait: forty idle times (activities/relays). */
const TURN_MINUTES = 10;
/** Longer than a turn takes; what is idle meanwhile is taken off. */
const TURN_MS = 20_000;
const ZERO: Readonly<Record<string, number>> = {};

/** The last section: what waits stays behind. */
export const idle: Section = async (context) => {
  const { stack, collect, quick } = context;
  if (!CPU_IS_KNOWN) return collect.note('idle: this machine does not tell the CPU of processes');
  const side = await movements(context, chain('instant', NODES));
  const levels = quick ? QUICK_LEVELS : LEVELS;
  const held: number[] = [];
  let waiting = 0;
  for (const level of levels) {
    const began = performance.now();
    await side.prepare(level - waiting);
    waiting = level;
    await quiet(stack);
    // Tidying up after the creates is their cost, not that of the waiting.
    await stack.pool.query('VACUUM (ANALYZE)');
    await sleep(quick ? 0 : SETTLE_MS);
    const filled = (performance.now() - began) / 1_000;
    if (level > 0) collect.note(`idle: ${level} wait after ${filled.toFixed(0)} s`);
    const window = quick ? QUICK_WINDOW_MS : WINDOW_MS;
    // quiet() has put the sweeper's turns off: they are measured by themselves, and each minute has
    // its share of them.
    const resting = await cpuOf(stack, () => sleep(window));
    const aMinute = (part: string): number => ((resting[part] ?? 0) / window) * 60;
    /** CPU seconds of the sweeper's turn with this number, by part. */
    const costOf = async (turn: number): Promise<Readonly<Record<string, number>>> => {
      const start = performance.now();
      const used = await cpuOf(stack, () => takeTurn(stack.pool, turn));
      const minutes = (performance.now() - start) / 60_000;
      return Object.fromEntries(
        PARTS.map((part) => [part, (used[part] ?? 0) / 1_000 - aMinute(part) * minutes]),
      );
    };
    // A worker's first turn compares all, whatever its number, so that one comes first.
    const whole = level === 0 ? ZERO : await costOf(WHOLE_TURNS);
    const counted = level === 0 ? ZERO : await costOf(WHOLE_TURNS + 1);
    let sum = 0;
    for (const part of PARTS) {
      const turns = (whole[part] ?? 0) + (WHOLE_TURNS - 1) * (counted[part] ?? 0);
      const value = aMinute(part) + Math.max(0, turns) / WHOLE_TURNS / TURN_MINUTES;
      sum += value;
      collect.add('idle', `${level} waiting: CPU a minute, ${part}`, 's', [value]);
    }
    if (level > 0) {
      const all = `${level} waiting: a turn of the sweeper that compares all`;
      collect.add('idle', all, 's', [sumOf(whole)]);
      collect.add('idle', `${level} waiting: one that counts`, 's', [sumOf(counted)]);
    }
    const name = level === 10_000 ? RATIO.idle : `idle CPU a minute, ${level} waiting`;
    collect.add('idle', name, 's', [sum]);
    const memory = stack.memory(PARTS);
    for (const part of PARTS)
      collect.add('idle', `${level} waiting: memory, ${part}`, 'MB', [memory[part] ?? 0]);
    held.push(sumOf(memory));
  }
  const most = (held.at(-1) ?? 0) - (held.at(-2) ?? 0);
  const more = (levels.at(-1) ?? 0) - (levels.at(-2) ?? 0);
  collect.add('idle', 'memory a waiting movement, all parts', 'kB', [(most * 1_024) / more]);
};

async function cpuOf(
  stack: BenchStack,
  work: () => Promise<unknown>,
): Promise<Readonly<Record<string, number>>> {
  const before = stack.cpu(PARTS);
  await work();
  return cpuBetween(before, stack.cpu(PARTS));
}

/**
 * Lets the sweeper take the turn with this number over everything that waits, and waits until it
 * has. It compares all in turns whose number is a multiple of {@link WHOLE_TURNS}.
 */
async function takeTurn(pool: pg.Pool, turn: number): Promise<void> {
  const due = "UPDATE turns SET turn = $1 - 1, due_at = now() WHERE name = 'sweep_waiting'";
  await pool.query(due, [turn]);
  await until(
    async () => (await pool.query('SELECT FROM turns WHERE due_at > now()')).rowCount !== 0,
    { everyMs: 200, what: 'the sweeper to take its turn' },
  );
  // Nothing says when it ends.
  await sleep(TURN_MS);
}
