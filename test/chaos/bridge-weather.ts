/** What chains, attester and deliverer do wrong in a run across the bridges. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ATTESTER, DELIVERER, FAR_CHAIN, type StackBridges } from '../../dev/stack/bridges.ts';
import { dice } from './random.ts';
import type { Parts } from './storm.ts';

export const CHAIN_FAULTS = { drop_answer_rate: 0.2, reject_rate: 0.05, drop_read_rate: 0.02 };
const ATTESTER_FAULTS = {
  error_rate: 0.1,
  lose_answer_rate: 0.1,
  garbage_rate: 0.05,
  // Otherwise its back-off of five minutes would be most of the run.
  limit_per_second: 10_000,
};
const DELIVERER_FAULTS = {
  fail_times: 1,
  repeat: 1,
  hold_until: 2,
  order: 'reversed',
  // Blocks are taken back: a delivery whose send is taken back would be the bridge's fault, and not
  // the service's.
  confirmations: 3,
};
/**
 * A restarted deliverer waits for no confirmations until its faults are set again. For so long
 * afterwards it may have acted on the newest block; blocks are a second apart.
 */
const RASH_MS = 3_000;

/** Where a part plays its faults, and which. */
export interface Played {
  readonly url: string;
  readonly faults: object;
}

/**
 * Faults live in the processes that play them, so a restarted process gets them again. `changed` is
 * called when the faults of a part were set, and when it is killed.
 */
export function playFaults(
  played: ReadonlyMap<string, Played>,
  changed: (name: string, stormy: boolean) => void = () => undefined,
) {
  let stormy = false;
  const set = async (name: string): Promise<void> => {
    const of = played.get(name);
    if (of === undefined) return;
    const answer = await fetch(`${of.url}/faults`, {
      method: stormy ? 'POST' : 'DELETE',
      headers: { 'content-type': 'application/json' },
      ...(stormy ? { body: JSON.stringify(of.faults) } : {}),
    });
    if (!answer.ok) throw new Error(`${name} refused the faults: ${await answer.text()}`);
    changed(name, stormy);
  };
  const all = async (on: boolean): Promise<void> => {
    stormy = on;
    for (const name of played.keys()) await set(name);
  };
  return {
    begin: () => all(true),
    end: () => all(false),
    around: (parts: Parts): Parts => ({
      kill: (name) => {
        changed(name, false);
        return parts.kill(name);
      },
      startChild: async (name) => {
        await parts.startChild(name);
        await set(name);
      },
    }),
  };
}

/** The faults of both bridges. */
export function faultsOf({ near, far, attesterUrl, delivererUrl }: StackBridges) {
  const played = new Map<string, Played>([
    ['chain', { url: near.rpcUrl, faults: CHAIN_FAULTS }],
    [FAR_CHAIN, { url: far.rpcUrl, faults: CHAIN_FAULTS }],
    [ATTESTER, { url: attesterUrl, faults: ATTESTER_FAULTS }],
    [DELIVERER, { url: delivererUrl, faults: DELIVERER_FAULTS }],
  ]);
  /** When the deliverer last got its faults; null while it is down or without them. */
  let patientSince: number | null = null;
  return {
    ...playFaults(played, (name, stormy) => {
      if (name === DELIVERER) patientSince = stormy ? Date.now() : null;
    }),
    /** Whether nothing is on its way that only the newest block has. */
    patient: () => patientSince !== null && Date.now() - patientSince >= RASH_MS,
  };
}

/** Takes the newest block of one of the chains back, and has an empty one made in its place. */
export function reorganiser(
  chains: readonly { readonly rpcUrl: string }[],
  { seed, allowed }: { readonly seed: number; readonly allowed: () => boolean },
) {
  const thrown = dice(seed, 'blocks');
  let blocks = 0;
  let over = false;
  let last: Promise<void> = Promise.resolve();
  const rpc = async (url: string, method: string): Promise<void> => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [1] }),
    });
    const { error } = (await answer.json()) as { error?: unknown };
    if (error !== undefined) throw new Error(JSON.stringify(error));
  };
  const takeBack = async (url: string): Promise<void> => {
    while (!allowed()) {
      if (over) return;
      await sleep(50);
    }
    await rpc(url, 'anvil_rollback');
    blocks += 1;
    // The height stays, so that what is final is not taken back next time.
    await rpc(url, 'anvil_mine');
  };
  return {
    get blocks() {
      return blocks;
    },
    next: () => {
      const { rpcUrl } = thrown.pick(chains);
      // A chain that is dead just now keeps its blocks.
      last = last.then(() => takeBack(rpcUrl)).catch(() => undefined);
    },
    /** Once this resolves, no block is taken back. */
    end: () => {
      over = true;
      return last;
    },
  };
}
