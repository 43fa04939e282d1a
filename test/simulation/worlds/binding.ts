/** How the service is bound to the simulated chain: its entry of the venues file, its signers. */
import { createPublicClient, custom, recoverTransactionAddress } from 'viem';
import type { Signer } from '../../../domain/signer.ts';
import { createLocalSigner } from '../../../signers/local.ts';
import type { EvmVenue } from '../../../venues/evm/config.ts';
import { evmVenueSchema } from '../../../venues/list.ts';

/** Not in the table of known chains, so that nothing of a real chain is assumed. */
export const CHAIN_ID = 77_001;
export const HOSTS = ['chain-a.simulated', 'chain-b.simulated'] as const;
export const TOKEN = `0x${'70'.repeat(20)}` as const;

/** Each profile has one account, and so one nonce lane. */
const KEYS = { treasury: `0x${'11'.repeat(32)}`, operations: `0x${'22'.repeat(32)}` } as const;

export function bindChain(): EvmVenue {
  const [first, ...others] = HOSTS.map((host) => `http://${host}/`);
  return evmVenueSchema.parse({
    venue_key: 'simulated-chain',
    provider: 'evm',
    chain_id: CHAIN_ID,
    rpc_url: first,
    more_rpc_urls: others,
    confirmations: 2,
    finality: 'finalized_tag',
    tokens: [{ asset: 'USDC', address: TOKEN, decimals: 6 }],
    request_timeout_seconds: 5,
    poll_interval_seconds: 6,
    replace_after_seconds: 30,
  });
}

const signerKey = (profile: string): string => `simulated-${profile}`;
export const SIGNER_KEYS = Object.keys(KEYS).map(signerKey);

export function signersOf(): readonly Signer[] {
  return Object.entries(KEYS).map(([profile, key]) =>
    createLocalSigner({ signer_key: signerKey(profile), chain_family: 'evm', profile }, key),
  );
}

/**
 * Brings what the RPC library keeps between worlds to one state, so that a world does not depend on
 * those before it: it loads its cryptography at the first use, and draws its clients' ids from
 * a buffer that it fills by chance when it is empty.
 */
export async function readyLibrary(): Promise<void> {
  const [signer] = signersOf();
  const unsigned = {
    chain_id: CHAIN_ID,
    to: TOKEN,
    value: '0',
    data: '0x',
    gas: '21000',
    max_fee_per_gas: '1',
    max_priority_fee_per_gas: '1',
  };
  const { raw_tx = '' } = (await signer?.signEvmTransaction(unsigned, 0)) ?? {};
  await recoverTransactionAddress({ serializedTransaction: raw_tx as `0x02${string}` });
  const transport = custom({ request: () => Promise.reject(new Error('no chain')) });
  // A call that fails loads what reads its error.
  const client = createPublicClient({ transport });
  await client.call({ to: TOKEN }).catch(() => undefined);
  const { random } = Math;
  let isFilled = false;
  Math.random = () => {
    isFilled = true;
    return random();
  };
  while (!isFilled) createPublicClient({ transport });
  Math.random = random;
}
