/**
 * Whoever stops and lets go: the cutover mode, executors, signers and addresses. Each world has
 * many short stops and one long freeze; the people of a world know when each begins, and many
 * approve right before it.
 */
import type { Dice } from '../chaos/random.ts';
import { sleep, type Caller } from './caller.ts';
import type { Machine } from './machine/machine.ts';
import { PAYEES, TRANSFERS } from './payees.ts';
import { DESKS, WITHDRAWAL } from './plans.ts';
import { SIGNER_KEYS } from './worlds/binding.ts';

export type Stopped =
  | { readonly what: 'mode' }
  | { readonly what: 'executors' | 'signers' | 'addresses'; readonly key: string };

export interface PlannedStop {
  readonly stopped: Stopped;
  /** Milliseconds since 1970 at which it is requested. */
  readonly at: number;
  readonly lasts: number;
}

/** Milliseconds since the world began at which the long freeze begins, and how long it lasts. */
const FROZEN_AT_MS = [100_000, 180_000] as const;
const FROZEN_MS = [120_000, 240_000] as const;
/** Short stops: between two of them, how long each lasts, and until when they come. */
const PAUSE_MS = [2_000, 10_000] as const;
const SHORT_MS = [300, 8_000] as const;
const LAST_MS = 300_000;
const FROZEN_AGAIN_MS = [200, 3_000] as const;
/** What waited goes on within so many milliseconds: the relay looks every few seconds. */
const GOES_ON_WITHIN_MS = 5_000;
/** So often a short stop is one of the cutover mode. */
const IS_FREEZE = 0.6;
/** Milliseconds before a request from which it counts as one that is under way. */
const AHEAD_MS = 500;

/** `others`: what may be stopped besides the cutover mode. */
export function planStops(
  dice: Dice,
  begin: number,
  others: readonly Other[] = OTHERS,
): readonly PlannedStop[] {
  const long: PlannedStop = {
    stopped: { what: 'mode' },
    at: begin + dice.between(...FROZEN_AT_MS),
    lasts: dice.between(...FROZEN_MS),
  };
  const short: PlannedStop[] = [];
  for (let at = begin + dice.between(...PAUSE_MS); at < begin + LAST_MS;) {
    const lasts = dice.between(...SHORT_MS);
    const isBeside = at + lasts < long.at || at > long.at + long.lasts;
    const mode: Stopped = { what: 'mode' };
    const stopped =
      isBeside && dice.chance(IS_FREEZE) ? mode : dice.pick(others, ({ weight }) => weight).stop;
    short.push({ stopped, at, lasts });
    at += lasts + dice.between(...PAUSE_MS);
  }
  return [...short, long].sort((a, b) => a.at - b.at);
}

interface Other {
  readonly stop: Stopped;
  readonly weight: number;
}

export const OTHERS: readonly Other[] = [
  ...[...DESKS.knowing, ...DESKS.forgetful, 'evm.transfer'].map((key) => ({
    stop: { what: 'executors', key } as const,
    weight: 1,
  })),
  ...SIGNER_KEYS.map((key) => ({ stop: { what: 'signers', key } as const, weight: 1.5 })),
  ...Object.values(PAYEES).map((key) => ({
    stop: { what: 'addresses', key } as const,
    weight: key === PAYEES['desk'] ? 2 : 0.3,
  })),
];

/** Where every movement withdraws from an exchange. */
export const AT_EXCHANGE: readonly Other[] = [
  { stop: { what: 'executors', key: WITHDRAWAL }, weight: 2 },
  ...TRANSFERS.map((name) => ({
    stop: { what: 'addresses', key: PAYEES[name] ?? '' } as const,
    weight: 1,
  })),
];

export interface Watch {
  /** Called with 1 before a stop is requested and with -1 once it is answered. */
  readonly deciding: (by: 1 | -1) => void;
  /** Resolves once any desk is paid through, or after so many milliseconds. */
  readonly nextOrder: (ms: number) => Promise<void>;
}

/** Carries the stops out; each one is let go again, whatever befalls the requests. */
export async function administer(
  machine: Machine,
  caller: Caller,
  stops: readonly PlannedStop[],
  watch: Watch,
): Promise<void> {
  const { deciding } = watch;
  for (const { stopped, at, lasts } of stops) {
    await sleep(at - machine.now - AHEAD_MS);
    void (async () => {
      deciding(1);
      await sleep(AHEAD_MS);
      await set(caller, stopped, false);
      deciding(-1);
      await sleep(lasts);
      if (stopped.what === 'mode') await freezeAgain(machine.dice, caller, watch);
      await set(caller, stopped, true);
    })();
  }
}

/**
 * Lets go, and stops again as soon as money leaves, a few times: whatever waited at its fence
 * passes it in these milliseconds.
 */
async function freezeAgain(
  dice: Dice,
  caller: Caller,
  { deciding, nextOrder }: Watch,
): Promise<void> {
  for (let times = dice.between(1, 4); times > 0; times -= 1) {
    deciding(1);
    await set(caller, { what: 'mode' }, true);
    await nextOrder(GOES_ON_WITHIN_MS);
    await sleep(dice.between(0, 40));
    await set(caller, { what: 'mode' }, false);
    deciding(-1);
    await sleep(dice.between(...FROZEN_AGAIN_MS));
  }
}

async function set(caller: Caller, stopped: Stopped, isOn: boolean): Promise<void> {
  const reason = 'simulation';
  if (stopped.what === 'mode') {
    const mode = isOn ? 'normal' : 'frozen';
    await caller.insist('POST', '/admin/cutover-mode', { mode, reason });
  } else if (stopped.what === 'addresses') {
    await caller.insistOn(`list ${stopped.key} ${String(isOn)}`, (api) =>
      api.list(stopped.key, isOn),
    );
  } else {
    const status = isOn ? 'active' : 'disabled';
    await caller.insist('PATCH', `/${stopped.what}/${stopped.key}`, { status, reason });
  }
}
