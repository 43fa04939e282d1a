/** Reads an account's balances and allowances on the bound chains, for retiring signers. */
import type { Address } from 'viem';
import { getAddress } from 'viem';
import { ExecutorFault, type CallOptions } from '../../domain/executor.ts';
import type { ChainAssets, ChainEntry } from '../../domain/plan/tokens.ts';
import type {
  AccountReader,
  AllowanceScan,
  ChainHolding,
  ChainHoldings,
} from '../../domain/signer-lifecycle.ts';
import { scanAllowances } from './allowances.ts';
import { amountOf } from './balances.ts';
import { finalizedNumber, readBalance, type EvmChains, type EvmConnection } from './client.ts';

const ANSWER_WITHIN_MS = 20_000;

/**
 * Returns a reader over the chains of the venues file. The reader returns a chain's faults as part
 * of the result and never throws them.
 */
export function createAccountReader({
  chains,
  chainAssets,
}: {
  readonly chains: EvmChains;
  readonly chainAssets: ChainAssets;
}): AccountReader {
  const call = (): CallOptions => ({
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    requestId: 'a look at an account',
  });
  return {
    chainIds: () => chainAssets.map(({ chain_id }) => chain_id),
    async holdings(address, chainIds) {
      const found = await Promise.all(
        chainAssets
          .filter(({ chain_id }) => chainIds.includes(chain_id))
          .map((chain) => holdingsOn(chain, () => chains.open(chain.chain_id, call()), address)),
      );
      return {
        balances: found.flatMap(({ balances }) => balances),
        used_nonces: found.flatMap(({ used_nonces }) => used_nonces),
      };
    },
    async allowances(address, chainIds, known) {
      const scans = await Promise.all(
        chainIds.map((id) =>
          chains
            .open(id, call())
            .then((connection) =>
              scanAllowances(
                connection,
                getAddress(address),
                known.filter(({ chain_id }) => chain_id === id),
              ),
            )
            .catch((error: unknown): AllowanceScan => {
              codeOf(error);
              return { allowances: [], unsupported_spender_not_checked: true };
            }),
        ),
      );
      return {
        allowances: scans.flatMap(({ allowances }) => allowances),
        unsupported_spender_not_checked: scans.some((scan) => scan.unsupported_spender_not_checked),
      };
    },
  };
}

async function holdingsOn(
  entry: ChainEntry,
  open: () => Promise<EvmConnection>,
  address: string,
): Promise<ChainHoldings> {
  const listed: { asset: string; token: Address | null }[] = [
    { asset: entry.native_asset, token: null },
    ...entry.tokens.map((token) => ({ asset: token.asset, token: getAddress(token.address) })),
  ];
  const row = ({ asset, token }: (typeof listed)[number]) => ({
    chain: String(entry.chain_id),
    asset,
    token_address: token,
  });
  const owner = getAddress(address);
  try {
    const connection = await open();
    const block = await finalizedNumber(connection);
    const [final, mined] = await Promise.all([
      connection.ask((client) =>
        client.getTransactionCount({ address: owner, blockNumber: block > 0n ? block : 0n }),
      ),
      connection.ask((client) => client.getTransactionCount({ address: owner })),
    ]);
    return {
      used_nonces: [{ chain_id: entry.chain_id, final, mined }],
      balances: await Promise.all(
        listed.map(async (each) => ({ ...row(each), ...(await held(connection, owner, each)) })),
      ),
    };
  } catch (error) {
    const problem = codeOf(error);
    return {
      used_nonces: [],
      balances: listed.map((each) => ({ ...row(each), amount: null, problem })),
    };
  }
}

/** Reads the newest block's balance: a signer may retire only once it holds nothing there. */
async function held(
  connection: EvmConnection,
  owner: Address,
  { token }: { readonly token: Address | null },
): Promise<Pick<ChainHolding, 'amount' | 'problem'>> {
  try {
    const decimals = await connection.decimals(token);
    const amount = amountOf(await readBalance(connection, { owner, token }), decimals);
    return { amount, problem: amount === null ? 'AMOUNT_TOO_LARGE' : null };
  } catch (error) {
    return { amount: null, problem: codeOf(error) };
  }
}

/** Returns the code of a chain's fault; throws every other error. */
function codeOf(error: unknown): string {
  if (error instanceof ExecutorFault) return error.code;
  throw error;
}
