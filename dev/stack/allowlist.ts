/**
 * The allowlist of the embedded stack: addresses that its templates, the demo and the test runs
 * pay.
 */
import { withDatabase } from '../../tools/database.ts';
import { CHAIN_FAMILIES } from '../../domain/allowlist/address.ts';
import { allowAddress, listAllowed, type AllowlistChange } from '../../store/allowlist.ts';
import type { ChainInfo } from './chain.ts';
import { VENUE_DEPOSIT_ADDRESSES } from '../simulators/chain/accounts.ts';
import { secretsKeyFile } from './keys.ts';

/**
 * Adds the stack's own addresses and `more` to its allowlist. Existing rows stay, also revoked
 * ones.
 */
export async function ensureDevAllowlist(
  stack: {
    readonly databaseUrl: string;
    readonly dataDir: string;
    readonly chain: Pick<ChainInfo, 'accounts'>;
    /** Ids of chains on which the stack's bridges and perps venue pay. */
    readonly arrivals?: readonly number[];
  },
  more: readonly string[] = [],
): Promise<void> {
  const { treasury, signer, venueHotWallet } = stack.chain.accounts;
  const addresses = [
    treasury.address,
    signer.address,
    venueHotWallet.address,
    ...Object.values(VENUE_DEPOSIT_ADDRESSES),
    ...more,
  ];
  const env = {
    SVC_DATABASE_URL: stack.databaseUrl,
    SVC_SECRETS_KEY_FILE: secretsKeyFile(stack.dataDir),
  };
  await allow(env, addresses);
  // A payment from another venue needs a row that names the chain on which it arrives.
  for (const chainId of stack.arrivals ?? [])
    await allow(env, [treasury.address, signer.address], chainId);
}

/**
 * Adds EVM addresses to the allowlist of both families, for every chain, usable immediately; adds
 * other accounts to that of exchanges. With `chain_id` adds EVM addresses for that chain only, and
 * nothing for exchanges.
 */
export async function allow(
  env: NodeJS.ProcessEnv,
  addresses: readonly string[],
  chain_id: number | null = null,
): Promise<void> {
  const io = { env, out: () => undefined, err: () => undefined };
  await withDatabase({}, io, async (db) => {
    const listed = await listAllowed(
      db,
      { include_inactive: true },
      { limit: 10_000, after: null },
    );
    for (const address of new Set(addresses.map((each) => each.toLowerCase()))) {
      const families = address.startsWith('0x') ? CHAIN_FAMILIES : (['cex'] as const);
      for (const chain_family of chain_id === null ? families : (['evm'] as const)) {
        const isListed = listed.some(
          (row) =>
            row.chain_family === chain_family &&
            row.address === address &&
            row.chain_id === chain_id,
        );
        if (isListed) continue;
        await allowAddress(
          db,
          { chain_family, address, chain_id, label: 'embedded stack' },
          BY_STACK,
        );
      }
    }
  });
}

const BY_STACK: AllowlistChange = {
  by: 'embedded stack',
  reason: 'the embedded stack pays it',
  cooling_seconds: null,
  audit: (action, id) => ({
    action,
    entity_type: 'allowed_address',
    entity_key: id,
    outcome: 'success',
    details: { tool: 'embedded stack' },
  }),
};
