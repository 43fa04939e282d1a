/**
 * The service's configuration for the embedded stack: one chain, the paper venue and a development
 * key.
 */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SEARCH_ATTRIBUTES as NAMES } from '../../domain/messages.ts';
import { bridgedTokens, laneEntries, type StackBridges } from './bridges.ts';
import type { ChainInfo } from './chain.ts';
import { perpEntry, type StackPerp } from './perp.ts';
import { type Lists, withSettingFile } from './setting-file.ts';

/**
 * Search attributes that the Temporal development server registers at its start, as `Name=Type`.
 */
export const SEARCH_ATTRIBUTES: readonly string[] = Object.values(NAMES).map(
  (name) => `${name}=Keyword`,
);

export const DEV_SIGNER_KEY = 'dev-treasury';

/** Additional entries of the registry and venues files; paths of key files are absolute. */
export interface MoreEntries {
  readonly executors?: readonly object[];
  readonly signers?: readonly object[];
  readonly venues?: readonly object[];
}

/**
 * Writes the service's configuration files into the data folder, with the entries of the files that
 * `env` names ({@link withSettingFile}). Returns the service's environment; `log` gets a line for
 * each addition.
 */
export async function writeStackConfig(options: {
  dataDir: string;
  chain: ChainInfo;
  bridges?: StackBridges | null;
  perp?: StackPerp | null;
  paperVenueUrl: string;
  /** Entries in addition to those of the stack. */
  more?: MoreEntries;
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
}): Promise<Record<string, string>> {
  const {
    dataDir,
    chain,
    bridges = null,
    perp = null,
    paperVenueUrl,
    more = {},
    env,
    log,
  } = options;
  const folder = join(dataDir, 'config');
  await mkdir(folder, { recursive: true });
  const keyFile = join(folder, `${DEV_SIGNER_KEY}.key`);
  await writeFile(keyFile, `${chain.accounts.signer.privateKey}\n`, { mode: 0o600 });
  await chmod(keyFile, 0o600);
  const registryFile = join(folder, 'registry.json');
  const venuesFile = join(folder, 'venues.json');
  const registered = await withSettingFile(
    'SVC_REGISTRY_FILE',
    joined(registry(paperVenueUrl), more),
    env,
  );
  const own = joined(venues({ chain, bridges, perp, paperVenueUrl }), more);
  const bound = await withSettingFile('SVC_VENUES_FILE', own, env);
  await writeFile(registryFile, `${JSON.stringify(registered.lists, null, 2)}\n`);
  await writeFile(venuesFile, `${JSON.stringify(bound.lists, null, 2)}\n`);
  for (const line of [...registered.added, ...bound.added]) log(`  - added ${line}`);
  return {
    SVC_REGISTRY_FILE: registryFile,
    SVC_VENUES_FILE: venuesFile,
    SVC_LOCAL_SIGNER_BACKEND: 'local',
  };
}

function joined(own: Lists, more: MoreEntries): Lists {
  const lists = Object.entries(own).map(([list, entries]): [string, Lists[string]] => [
    list,
    [...entries, ...(more[list as keyof MoreEntries] ?? []).map((entry) => ({ ...entry }))],
  ]);
  return Object.fromEntries(lists);
}

function registry(paperVenueUrl: string): Lists {
  return {
    executors: [
      {
        executor_key: 'paper.withdrawal',
        kind: 'remote',
        url: paperVenueUrl,
        timeout_seconds: 5,
        same_key_safe: true,
        settle_seconds: 1,
        action_types: ['cex_withdrawal', 'cex_internal_transfer', 'cex_deposit_observe'],
        provider: 'paper',
        completion_assurances: [
          'provider_completed',
          'destination_observed',
          'destination_credited',
          'destination_finalized',
        ],
      },
    ],
    signers: [
      {
        signer_key: DEV_SIGNER_KEY,
        chain_family: 'evm',
        profile: 'treasury',
        backend: 'local',
        private_key_file: `${DEV_SIGNER_KEY}.key`,
      },
    ],
  };
}

function venues({
  chain,
  bridges,
  perp,
  paperVenueUrl,
}: {
  readonly chain: ChainInfo;
  readonly bridges: StackBridges | null;
  readonly perp: StackPerp | null;
  readonly paperVenueUrl: string;
}): Lists {
  const account = (venue_key: string, account_role: 'master' | 'sub') => ({
    venue_key,
    provider: 'paper',
    account_role,
    account: venue_key,
    url: paperVenueUrl,
  });
  return {
    venues: [
      {
        venue_key: 'local-chain',
        provider: 'evm',
        chain_id: chain.chainId,
        rpc_url: chain.rpcUrl,
        tokens: [
          ...Object.entries(chain.tokens).map(([asset, token]) => ({ asset, ...token })),
          ...(bridges === null ? [] : bridgedTokens(bridges.near)),
        ],
        confirmations: 1,
        poll_interval_seconds: 0.3,
        ...(bridges === null ? {} : laneEntries(bridges.near, bridges.attesterUrl)),
      },
      ...(bridges === null ? [] : [farVenue(bridges)]),
      ...(perp === null ? [] : [perpEntry(perp)]),
      account('paper-main', 'master'),
      account('paper-sub-a', 'sub'),
      account('paper-sub-b', 'sub'),
    ],
  };
}

/**
 * Returns the venue entry of the far chain, which only the bridges use. Its finality is part of the
 * entry, since no built-in table has this chain.
 */
function farVenue({ far, attesterUrl }: StackBridges): Record<string, unknown> {
  return {
    venue_key: far.venueKey,
    provider: 'evm',
    chain_id: far.chainId,
    rpc_url: far.rpcUrl,
    finality: 'finalized_tag',
    tokens: bridgedTokens(far),
    confirmations: 1,
    poll_interval_seconds: 0.3,
    ...laneEntries(far, attesterUrl),
  };
}
