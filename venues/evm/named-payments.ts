/**
 * Reads the payments that a person names for a node that observes an address: transfers of a token
 * by transaction and position of the log, or the rise of the balance of the chain's own coin.
 */
import type { Address } from 'viem';
import {
  unprovenClaim,
  type ClaimReader,
  type NamedClaim,
  type ReadClaim,
} from '../../domain/claim-reader.ts';
import { claimsOf, type Claim } from '../../domain/claims.ts';
import type { CallOptions } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { add, fromBaseUnits, subtract } from '../../domain/money.ts';
import { readConfig } from '../node-plan.ts';
import { arrivalsOf } from './arrivals.ts';
import { coinSourceOf, EVM_BALANCE_OBSERVE_DESCRIPTOR, sourceOf } from './balance-observe.ts';
import { finalizedNumber, readBalance, type EvmChains, type EvmConnection } from './client.ts';
import { balanceObserveConfigSchema, type BalanceObserveConfig } from './config.ts';
import { recordedBlock } from './landed.ts';
import { hashIn, readNamedReceipt, shownByAll } from './named-transaction.ts';

/** What is read on one endpoint. */
interface Look {
  readonly one: EvmConnection;
  readonly config: BalanceObserveConfig;
  readonly decimals: number;
  readonly claims: readonly Claim[];
  readonly named: NamedClaim;
}

export function createPaymentReader(chains: EvmChains): ClaimReader {
  return {
    action_types: EVM_BALANCE_OBSERVE_DESCRIPTOR.action_types,
    venues: null,
    async read(named, signal) {
      const call: CallOptions = { signal, requestId: 'a look at a payment' };
      const config = readConfig(balanceObserveConfigSchema, named);
      const connection = await chains.open(config.chain_id, call);
      const { token_address: token } = config;
      const decimals = await connection.decimals(token ?? null);
      const { action_type, output } = named;
      const claims = claimsOf({ action_type, output, matched: null });
      return shownByAll(connection, (one) => {
        const look: Look = { one, config, decimals, claims, named };
        return token === undefined ? riseOf(look) : paymentsOf(look, token);
      });
    },
  };
}

async function paymentsOf(
  { one, config, decimals, claims }: Look,
  token: Address,
): Promise<ReadClaim> {
  const payee = { token, to: config.address };
  const source = sourceOf(config);
  const payments: JsonObject[] = [];
  for (const claim of claims) {
    if (claim.source !== source)
      return unprovenClaim('differs', `the node waits for payments of ${source}`, { source });
    const hash = hashIn(claim.reference.replace(/#.*/, ''));
    if (hash === null) return unprovenClaim('not_found', `${claim.reference} is no payment`);
    const mined = await readNamedReceipt(one, hash);
    if (!mined.ok) return mined;
    const paid = arrivalsOf(mined.receipt, payee);
    const arrival = paid.find(({ reference }) => reference === claim.reference);
    if (arrival === undefined)
      return unprovenClaim(
        'differs',
        `${claim.reference} is no transfer of ${payee.token} to ${payee.to}`,
        { references: paid.slice(0, 20).map(({ reference }) => reference) },
      );
    payments.push({ ...claim, total: fromBaseUnits(arrival.units, decimals) });
  }
  return { ok: true, output: { payments, received_amount: sumOf(claims) } };
}

/** Of the chain's own coin only balances are to be seen: how much more there is since a block. */
async function riseOf({ one, config, decimals, claims, named }: Look): Promise<ReadClaim> {
  const { address, baseline_amount } = config;
  const [claim, ...more] = claims;
  const source = coinSourceOf(config);
  const reference = address.toLowerCase();
  if (claim?.source !== source || claim.reference !== reference || more.length > 0)
    return unprovenClaim('differs', 'the node waits for the coin of the chain at its address', {
      source,
      reference,
    });
  const [since, until] = [BigInt(claim.since ?? '0'), BigInt(claim.until ?? '0')];
  // With a baseline_amount no block is counted from: claims of all blocks are part of the rise.
  const from = baseline_amount === undefined ? recordedBlock(named.recorded['baseline_block']) : 0n;
  if (from === null)
    return unprovenClaim('not_final', 'the node has recorded no block to count from yet');
  if (since < from || until <= since || (baseline_amount !== undefined && since > 0n))
    return unprovenClaim('differs', 'these are not blocks that the node counts from', {
      since: from.toString(),
    });
  if (until > (await finalizedNumber(one)))
    return unprovenClaim('not_final', `block ${until.toString()} is not final yet`);
  const balanceAt = async (block: bigint): Promise<string> =>
    fromBaseUnits(await readBalance(one, { owner: address, token: null, block }), decimals);
  const total = subtract(await balanceAt(until), baseline_amount ?? (await balanceAt(since)));
  return {
    ok: true,
    output: { payments: [{ ...claim, total }], received_amount: claim.amount },
  };
}

function sumOf(claims: readonly Claim[]): string {
  return claims.reduce((sum, { amount }) => add(sum, amount), '0');
}
