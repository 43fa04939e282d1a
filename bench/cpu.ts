/** Processor time of processes and everything below them, from Linux's /proc. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Linux counts in these, whatever the kernel's own tick. */
const TICKS_PER_SECOND = 100;

/** Whether this machine tells. Elsewhere the CPU figures are left out. */
export const CPU_IS_KNOWN = existsSync('/proc/self/stat');

interface Stat {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
}

/** Milliseconds of user and system time that each of the process trees has used since it began. */
export function cpuOf(roots: Readonly<Record<string, number>>): Record<string, number> {
  const all = CPU_IS_KNOWN ? readAll() : [];
  return Object.fromEntries(
    Object.entries(roots).map(([name, pid]) => [
      name,
      (ticksBelow(pid, all) * 1_000) / TICKS_PER_SECOND,
    ]),
  );
}

/** What each has used between two readings. */
export function cpuBetween(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([name, ms]) => [name, ms - (before[name] ?? 0)]),
  );
}

/** The sum of what all parts have used, or hold. */
export function sumOf(parts: Readonly<Record<string, number>>): number {
  return Object.values(parts).reduce((sum, each) => sum + each, 0);
}

function ticksBelow(pid: number, all: readonly Stat[]): number {
  const own = all.find((each) => each.pid === pid)?.ticks ?? 0;
  return all
    .filter((each) => each.parent === pid)
    .reduce((sum, child) => sum + ticksBelow(child.pid, all), own);
}

function readAll(): Stat[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        return [parse(Number(name), readFileSync(`/proc/${name}/stat`, 'utf8'))];
      } catch {
        return []; // ended meanwhile
      }
    });
}

/** Children that have ended and were waited for are in their parent's cutime and cstime. */
function parse(pid: number, text: string): Stat {
  // The name in parentheses may hold anything, so fields are counted from its end.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const number = (index: number): number => Number(fields[index] ?? 0);
  return { pid, parent: number(1), ticks: number(11) + number(12) + number(13) + number(14) };
}
