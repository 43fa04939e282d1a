/** Kills processes by the schedule and starts them again. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Strike } from './schedule.ts';

/** Starts of one part in a row that may fail before the run gives up. */
const STARTS = 5;

/** What can be killed and started again. */
export interface Parts {
  kill(name: string): Promise<void>;
  startChild(name: string): Promise<void>;
}

export interface Storm {
  /** SIGKILLs so far, by part. */
  readonly kills: ReadonlyMap<string, number>;
  readonly total: number;
  /** Milliseconds from each kill until the part was ready again, summed up by part. */
  readonly downMs: ReadonlyMap<string, number>;
  /** Starts that ended before the part was ready, without a kill. */
  readonly failedStarts: readonly string[];
  /** Strikes until the schedule or the signal ends it; every part is up again afterwards. */
  run(): Promise<void>;
}

/** A storm over a stack whose parts do not start again by themselves. */
export function createStorm(options: {
  readonly stack: Parts;
  readonly strikes: readonly Strike[];
  readonly signal: AbortSignal;
  readonly onKill: (total: number) => void;
}): Storm {
  const { stack, strikes, signal, onKill } = options;
  const kills = new Map<string, number>();
  const downMs = new Map<string, number>();
  const failedStarts: string[] = [];
  const revivals = new Map<string, Promise<void>>();
  let total = 0;

  const revive = async (victim: string, { down_ms, up_ms }: Strike): Promise<void> => {
    const killed = Date.now();
    await sleep(down_ms);
    for (let tries = 1; ; tries += 1) {
      try {
        await stack.startChild(victim);
        downMs.set(victim, (downMs.get(victim) ?? 0) + Date.now() - killed);
        return await sleep(up_ms);
      } catch (error) {
        if (signal.aborted) return;
        failedStarts.push(
          `${victim}: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)}`,
        );
        if (tries === STARTS) throw error;
        await sleep(500);
      }
    }
  };
  const hit = async (strike: Strike): Promise<void> => {
    const { victims, then_ms } = strike;
    // A part is killed again only once it was ready and had its time: a start that is cut short
    // proves little.
    await Promise.all(victims.flatMap((victim) => revivals.get(victim) ?? []));
    if (signal.aborted) return;
    await Promise.all(
      victims.map(async (victim) => {
        await stack.kill(victim);
        kills.set(victim, (kills.get(victim) ?? 0) + 1);
        total += 1;
        onKill(total);
        const revival = revive(victim, strike);
        // A fault of it is met by whoever waits for it next.
        revival.catch(() => undefined);
        revivals.set(victim, revival);
      }),
    );
    await sleep(then_ms, undefined, { signal }).catch(() => undefined);
  };
  return {
    kills,
    downMs,
    get total() {
      return total;
    },
    failedStarts,
    run: async () => {
      for (const each of strikes) {
        if (signal.aborted) break;
        await hit(each);
      }
      await Promise.all(revivals.values());
    },
  };
}

/** Lives begin along with the kills, so that every kill meets some on their way. */
export async function liveThrough<L extends { readonly complaints: string[] }>(
  lives: readonly L[],
  {
    storm,
    kills,
    signal,
  }: { readonly storm: Storm; readonly kills: number; readonly signal: AbortSignal },
  lead: (life: L) => Promise<void>,
): Promise<void> {
  const led: Promise<void>[] = [];
  for (const [at, life] of lives.entries()) {
    while (storm.total < Math.floor((at * kills) / lives.length))
      await sleep(50, undefined, { signal });
    // What one caller meets must not end the others: it is reported with the contradictions.
    led.push(lead(life).catch((error: unknown) => void life.complaints.push(String(error))));
  }
  await Promise.all(led);
}
