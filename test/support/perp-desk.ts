/**
 * The routes of the perps venue over a database of its own, with a simulated venue behind them, and
 * workers that approve agents when a test starts one.
 */
import { pino } from 'pino';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Running } from '../../dev/simulators/kit/process.ts';
import { startPerpVenue } from '../../dev/simulators/perp/start.ts';
import { startAgentWalletTender } from '../../venues/perp/agent-wallets.ts';
import { createHealthRefresher } from '../../activities/relays/health.ts';
import { createApi } from '../../api/app.ts';
import type { Route } from '../../api/http/route.ts';
import { masterRequirement } from '../../venues/perp/api/master.ts';
import { perpVenueRoutes } from '../../venues/perp/api/routes.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { BoundChain } from '../../domain/plan/tokens.ts';
import type { Caller } from '../../domain/roles.ts';
import type { Signer } from '../../domain/signer.ts';
import type { Loop } from '../../platform/loop.ts';
import { connectDatabase, type Database } from '../../prisma/client.ts';
import { createEvmChains } from '../../venues/evm/client.ts';
import { evmVenueSchema } from '../../venues/list.ts';
import type { PerpAccess } from '../../venues/perp/access.ts';
import { createPerpClient } from '../../venues/perp/client.ts';
import { perpVenueSchema } from '../../venues/perp/config.ts';
import { createPerpExecutors } from '../../venues/perp/lane.ts';
import { dependencies, guardOf, send, serve, type Answer } from '../api/support.ts';
import {
  callerOf,
  low,
  someone,
  startPerpChain,
  TOKEN,
  type PerpCaller,
} from '../dev/perp-stack.ts';
import { startStoreBench, type StoreBench } from '../store/support.ts';
import { PERP_BRIDGE } from '../../dev/simulators/perp/settings.ts';

/** A signer of this process whose answers a test may change. */
export interface DeskSigner {
  readonly account: PrivateKeyAccount;
  readonly signer: Signer;
  /** How often it has signed. */
  signed: number;
  /** Refuses to sign and to tell who it is, with this error. */
  broken: Error | null;
}

export interface DeskOptions {
  /** The perps venue as this process reaches it; null: none is bound. */
  readonly perp?: PerpAccess | null;
  readonly caller?: Caller;
  /** Signers that plans may select too, beside the master's. */
  readonly others?: readonly DeskSigner[];
  /** By how much the clock is ahead. */
  readonly laterMs?: number;
  /** What is served; the perps venue's own routes when left out. */
  readonly routes?: readonly Route[];
}

export interface PerpDesk {
  readonly bench: StoreBench;
  /** Of the chain that deposits come from. */
  readonly chainId: number;
  /** The venue as others see it. */
  readonly perp: PerpCaller;
  readonly access: PerpAccess;
  readonly master: DeskSigner;
  /** A signer with an account of its name, which this process knows from then on. */
  signer(key: string): DeskSigner;
  call(method: string, path: string, body?: object, options?: DeskOptions): Promise<Answer>;
  /** Begins to approve agents, as one more worker; stopped by the end of the test. */
  work(options?: DeskOptions): Pick<Loop, 'stop'>;
  /** Asks the executors how they are, as a worker does now and then, and records it. */
  refreshHealth(): Promise<unknown>;
  /** Approvals that the venue has heard. */
  approvals(): Promise<readonly Approval[]>;
  /** Takes away everything that a test has made; the venue stays. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

export interface Approval {
  readonly agentName: string;
  readonly agentAddress: string;
  readonly body: string;
  readonly admitted: boolean;
}

export const ADMIN: Caller = { client_id: null, key_id: null, role: 'admin' };
const BINDINGS = '/perp-venue/strategy-bindings';
/** The path of a strategy, or of something of it. */
export const at = (strategy: string, rest = ''): string => `${BINDINGS}/${strategy}${rest}`;

export async function startPerpDesk(masterName: string): Promise<PerpDesk> {
  const [bench, chain] = await Promise.all([startStoreBench(), startPerpChain()]);
  const venue: Running = await startPerpVenue(chain.settings);
  const perp = callerOf(venue.url);
  const signers = new Map<string, DeskSigner>();
  const signer = (key: string): DeskSigner => {
    const known = signers.get(key);
    if (known !== undefined) return known;
    const made = deskSigner(key, someone(key));
    signers.set(key, made);
    return made;
  };
  const master = signer(masterName);
  await perp.fund(low(master.account.address), { perp: '1000' });
  const bound = perpVenueSchema.parse({
    ...{ venue_key: 'perp', provider: 'perp', account_role: 'master', url: venue.url },
    ...{ account: master.account.address, network: 'Testnet', chain_id: chain.settings.chainId },
    ...{ deposit_address: PERP_BRIDGE.address, token: `USDC:0x${'0'.repeat(32)}` },
  });
  const access: PerpAccess = { venue: bound, client: createPerpClient(bound) };
  const databases = new Map<number, Database>();
  const at = (laterMs = 0): Database => {
    const known = databases.get(laterMs);
    if (known !== undefined) return known;
    const made = connectDatabase({
      url: bench.url,
      poolSize: 12,
      sessionSettings: { 'svc.clock_offset_ms': String(laterMs) },
    });
    databases.set(laterMs, made);
    return made;
  };
  const log = pino({ level: 'silent' });
  // Others are found by their keys; the master's is the one that plans select.
  const known = {
    list: () => [master.signer.descriptor],
    get: (key: string) => signers.get(key)?.signer,
  };
  const { chainId: chain_id } = chain.settings;
  const chains: readonly BoundChain[] = [
    {
      ...{ venue_key: 'local-chain', chain_id, native_asset: 'ETH', bridges: {} },
      tokens: [{ asset: 'USDC', address: TOKEN }],
      finality: {
        ...{ read: 'finalized_tag', confirmations: null, typical_age_seconds: null },
        override_reason: null,
      },
      deposit_venues: [{ venue_key: 'perp', asset: 'USDC', deposit_address: PERP_BRIDGE.address }],
      caps: { max_gas_cost_wei: '1', max_fee_per_gas_gwei: null },
    },
  ];
  const evm = evmVenueSchema.parse({
    ...{ venue_key: 'local-chain', provider: 'evm', chain_id, rpc_url: chain.settings.rpcUrl },
    finality: 'finalized_tag',
  });
  const lane = { ...access, chains: createEvmChains([evm]), evmVenues: [evm] };
  const working = createPerpExecutors(lane);
  const executors = working.map(({ descriptor }) => descriptor);
  let loops: readonly Pick<Loop, 'stop'>[] = [];
  return {
    ...{ bench, perp, access, master, signer, chainId: chain_id },
    call: async (
      method,
      path,
      body,
      {
        perp: reached = access,
        caller = ADMIN,
        others = [],
        laterMs,
        routes = perpVenueRoutes,
      } = {},
    ) => {
      const deps = {
        ...dependencies({ authEnabled: true }),
        db: at(laterMs),
        venues: reached === null ? {} : { perp: reached },
        requirements: [masterRequirement],
        signers: {
          ...known,
          list: () => [...known.list(), ...others.map((each) => each.signer.descriptor)],
        },
        executors: { list: () => executors },
        ...{ chains, log },
      };
      const served = await serve(createApi(deps, routes, { guard: guardOf(caller) }));
      try {
        return await send(`${served.url}/v3${path}`, {
          method,
          ...(body === undefined
            ? {}
            : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
        });
      } finally {
        await served.close();
      }
    },
    work: ({ perp: reached = access, laterMs } = {}) => {
      if (reached === null) throw new Error('a worker needs a venue');
      const parts = { db: at(laterMs), log, signers: known, perp: reached };
      const loop = startAgentWalletTender({ ...parts, pauseMs: 20 });
      loops = [...loops, loop];
      return loop;
    },
    refreshHealth: () =>
      createHealthRefresher({
        ...{ db: at(), log, intervalSeconds: 60, signers: { list: () => [], get: () => null } },
        checkedBy: 'perp-desk',
        temporal: { hasPollers: () => Promise.resolve(true) },
        executors: {
          list: () => executors,
          get: (key) => working.find(({ descriptor }) => descriptor.executor_key === key),
        },
      }).refreshOnce(),
    approvals: async () =>
      (await perp.heard()).flatMap(({ body, admitted }) => {
        const { action } = JSON.parse(body) as { action: JsonObject };
        if (action['type'] !== 'approveAgent') return [];
        const { agentName, agentAddress } = action as Record<string, string>;
        return [{ agentName: agentName ?? '', agentAddress: agentAddress ?? '', body, admitted }];
      }),
    clear: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
      loops = [];
      await fetch(`${venue.url}/faults`, { method: 'DELETE' });
      for (const each of signers.values()) Object.assign(each, { signed: 0, broken: null });
      for (const table of TABLES) await bench.sql(`DELETE FROM ${table}`);
    },
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
      await Promise.all([...databases.values()].map((db) => db.$disconnect()));
      await access.client.close();
      await venue.close();
      await chain.stop();
      await bench.close();
    },
  };
}

const TABLES = [
  'perp_actions',
  'perp_agent_wallets',
  'perp_bindings',
  'perp_master',
  'perp_accounts',
  'perp_lanes',
  'signers',
];

function deskSigner(signer_key: string, account: PrivateKeyAccount): DeskSigner {
  const identity = (): Promise<string> =>
    made.broken === null ? Promise.resolve(account.address) : Promise.reject(made.broken);
  const made: DeskSigner = {
    ...{ account, signed: 0, broken: null },
    signer: {
      descriptor: { signer_key, backend: 'local', chain_family: 'evm' },
      identity,
      recentIdentity: identity,
      signEvmTransaction: () => Promise.reject(new Error('nothing is sent to a chain here')),
      signEvmTypedData: async (payload) => {
        await identity();
        made.signed += 1;
        const data = payload as unknown as Parameters<PrivateKeyAccount['signTypedData']>[0];
        return { signature: await account.signTypedData(data) };
      },
    },
  };
  return made;
}
