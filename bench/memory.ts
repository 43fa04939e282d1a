/** Resident memory of processes and everything below them, from Linux's /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** Megabytes that the process tree below each of these holds. */
export function memoryOf(roots: Readonly<Record<string, number>>): Record<string, number> {
  const all = readAll();
  return Object.fromEntries(
    Object.entries(roots).map(([name, pid]) => [name, below(pid, all) / 1_024]),
  );
}

/** Megabytes that this process held at most at a time; 0 when it has ended. */
export function peakOf(pid: number): number {
  try {
    return number(readFileSync(`/proc/${String(pid)}/status`, 'utf8'), 'VmHWM') / 1_024;
  } catch {
    return 0;
  }
}

interface Held {
  readonly pid: number;
  readonly parent: number;
  readonly kilobytes: number;
}

function below(pid: number, all: readonly Held[]): number {
  const own = all.find((each) => each.pid === pid)?.kilobytes ?? 0;
  return all
    .filter((each) => each.parent === pid)
    .reduce((sum, child) => sum + below(child.pid, all), own);
}

function readAll(): Held[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const status = readFileSync(`/proc/${name}/status`, 'utf8');
        // What Postgres's processes share would be counted once for each of them.
        const kilobytes = number(status, 'RssAnon') + number(status, 'RssFile');
        return [{ pid: Number(name), parent: number(status, 'PPid'), kilobytes }];
      } catch {
        return []; // ended meanwhile
      }
    });
}

function number(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
}
