/**
 * Waits until the balance of an address has risen: an `observe` node without side effects.
 *
 * The increase is counted from a baseline; this process stores nothing. The first observations
 * record the baseline's block and, once that block is deep enough, its balance. They return
 * OBSERVING with both as output. The caller stores the output and passes it back as `prior.output`,
 * so every later observation, in any process, counts from the same block. After a crash before the
 * first result is stored, the baseline is a newer block: the node may then wait for an increase
 * that has already happened, but never counts an old balance as new.
 *
 * `config.baseline` chooses the block. `first_observation` (default) is the newest block of the
 * first observation; it fits a node that runs before or parallel to the payment. `movement_start`
 * is the last block before the movement was created; it fits a node that runs after the payment.
 * Both need an endpoint that keeps balances until a block is final. `config.baseline_amount`
 * overrides both.
 */
import type { Address, Hash } from 'viem';
import { depthFor, shownAt } from '../../domain/chains/assurance-table.ts';
import {
  COMPLETION_ASSURANCES,
  type Arrivals,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type SubmitJournal,
} from '../../domain/executor.ts';
import { isObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { add, compare, fromBaseUnits, subtract } from '../../domain/money.ts';
import type { Claim } from '../../domain/claims.ts';
import { failWhenRejected, readConfig } from '../node-plan.ts';
import { createObserver, observerDescriptor } from '../observer.ts';
import { arrivalsOf, searchArrivals } from './arrivals.ts';
import { isWhole, storedBaseline, takeBaseline, type Baseline } from './baseline.ts';
import {
  finalizedNumber,
  readBalance,
  readReceipt,
  type EvmChains,
  type EvmConnection,
} from './client.ts';
import { balanceObserveConfigSchema, type BalanceObserveConfig } from './config.ts';
import type { TokenDecimals } from './decimals.ts';
import { checkChains } from './health.ts';
import { isCanonical, settledNumber } from './landed.ts';
import { baseUnits } from './plan.ts';

export const EVM_BALANCE_OBSERVE_DESCRIPTOR = observerDescriptor({
  executor_key: 'evm.balance_observe',
  action_types: ['evm_balance_observe'],
  provider: 'evm',
  chain_family: 'evm',
  timeout_seconds: 30,
  // The executor sees the destination, but not the protocol that paid there.
  completion_assurances: COMPLETION_ASSURANCES.filter(
    (assurance) => assurance !== 'protocol_finalized',
  ),
});

export function createEvmBalanceObserveExecutor(chains: EvmChains): Executor {
  const observe: Executor['observe'] = (context, call, journal) =>
    look(chains, context, call, journal);
  return createObserver({
    descriptor: EVM_BALANCE_OBSERVE_DESCRIPTOR,
    preflight: (context, call) => failWhenRejected(() => check(chains, context, call)),
    observe,
    recover: observe,
    health: (call) => checkChains(chains, call),
  });
}

async function check(
  chains: EvmChains,
  context: ExecutionContext,
  call: CallOptions,
): Promise<null> {
  const config = readConfig(balanceObserveConfigSchema, context);
  const connection = await chains.open(config.chain_id, call);
  baseUnits(
    { amount: config.min_increase },
    await connection.decimals(config.token_address ?? null),
  );
  return null;
}

interface Look {
  readonly connection: EvmConnection;
  readonly config: BalanceObserveConfig;
  readonly baseline: Baseline;
  /**
   * The expected increase in units of the asset: the larger of the node's amount and
   * `min_increase`.
   */
  readonly amount: string;
  readonly decimals: TokenDecimals;
  readonly settled: bigint;
  readonly final: bigint;
  readonly arrivals: Arrivals | undefined;
  readonly prior: JsonObject;
}

/** Payments to claim; or the progress to store for the next observation and why the node waits. */
type Seen =
  | { readonly payments: readonly Claim[]; readonly facts: JsonObject }
  | { readonly progress: JsonObject; readonly why?: { error_code: string; error_message: string } };

/**
 * Returns COMPLETED with
 * `{baseline_block, baseline_amount, block_number, received_amount, payments}`, amounts in units of
 * the asset, once a block as deep as the assurance requires shows the payment since the baseline.
 * With `match_from`, the payment is the one of that node's transaction; else it is a single payment
 * of exactly the node's amount that no other node has claimed or waits for. Else OBSERVING, with
 * `PAYMENT_AMBIGUOUS` if the payment may be another node's. FAILED only with
 * `BASELINE_UNAVAILABLE`.
 */
async function look(
  chains: EvmChains,
  context: ExecutionContext,
  call: CallOptions,
  { arrivals }: Pick<SubmitJournal, 'arrivals'>,
): Promise<ExecutionResult> {
  const config = readConfig(balanceObserveConfigSchema, context);
  const connection = await chains.open(config.chain_id, call);
  const token = config.token_address ?? null;
  const decimals = await connection.decimals(token);
  const depth = depthFor(context.completion_assurance);
  const newest = await settledNumber(connection, depth);
  const settled = newest > 0n ? newest : 0n;
  const { amount: planned } = context;
  const amount = compare(planned, config.min_increase) > 0 ? planned : config.min_increase;
  const tx_hash = reportedBy(context.matched?.output ?? {});
  const reported = typeof tx_hash === 'string' ? { tx_hash: tx_hash.toLowerCase() } : {};
  const awaits = { place: placeOf(config), amount, ...reported };
  const waiting = (from: JsonObject, why?: object): ExecutionResult => ({
    next_state: 'OBSERVING',
    output: { ...from, awaits },
    ...why,
    retry_after_seconds: connection.venue.poll_interval_seconds,
  });
  const baseline = storedBaseline(context.prior?.output);
  if (!isWhole(baseline)) {
    // This observation never completes: if its result were lost, no baseline would be stored.
    return failWhenRejected(async () =>
      waiting({
        ...(await takeBaseline(connection, {
          config,
          context,
          decimals,
          settled,
          stored: baseline,
        })),
      }),
    );
  }
  const prior = context.prior?.output ?? {};
  const of: Look = {
    connection,
    config,
    baseline,
    amount,
    decimals,
    settled,
    arrivals,
    prior,
    final: await finalizedNumber(connection),
  };
  const seen =
    token !== null && typeof tx_hash === 'string'
      ? await paidBy(of, token, tx_hash as Hash)
      : settled < BigInt(baseline.baseline_block)
        ? { progress: {} }
        : token === null
          ? await coinSince(of)
          : await paidSince(of, token);
  if ('progress' in seen) return waiting({ ...baseline, ...seen.progress }, seen.why);
  const payments = seen.payments.map((each) => ({ ...each }));
  return {
    next_state: 'COMPLETED',
    output: {
      ...baseline,
      ...seen.facts,
      block_number: settled.toString(),
      payments,
      received_amount: payments.reduce((sum, each) => add(sum, each.amount), '0'),
    },
    assurance: shownAt(depth, EVM_BALANCE_OBSERVE_DESCRIPTOR.completion_assurances),
  };
}

/**
 * Returns the transaction of the `match_from` node; undefined for a bridge's first leg, whose
 * transaction is on another chain.
 */
function reportedBy(output: JsonObject): unknown {
  const isFirstLeg = ['attested_message', 'packet', 'destination_chain_id'].some((field) =>
    Object.hasOwn(output, field),
  );
  return isFirstLeg ? undefined : output['tx_hash'];
}

/** Returns the id of the place where a payment arrives: chain, token or coin, and address. */
function placeOf({ chain_id, token_address, address }: BalanceObserveConfig): string {
  return `evm:${String(chain_id)}:${token_address ?? 'coin'}:${address}`.toLowerCase();
}

/** Returns the source of claims of the chain's token transfers. */
export const sourceOf = ({ chain_id }: BalanceObserveConfig): string => `evm:${String(chain_id)}`;
/** Returns the source of claims of the chain's own coin. */
export const coinSourceOf = (config: BalanceObserveConfig): string => `${sourceOf(config)}:coin`;

/**
 * Returns the payment of the transaction that another node reported; that payment belongs to this
 * node. If the transaction pays several times (exchanges batch withdrawals), returns the payment of
 * exactly the node's amount.
 */
async function paidBy(of: Look, token: Address, hash: Hash): Promise<Seen> {
  const { connection, config, amount, decimals, settled } = of;
  const receipt = await readReceipt(connection, hash);
  if (
    receipt === null ||
    receipt.blockNumber > settled ||
    !(await isCanonical(connection, receipt))
  )
    return { progress: {} };
  const all = arrivalsOf(receipt, { token, to: config.address });
  const free = await unclaimed(all, of);
  const exact = free.filter(({ units }) => units === baseUnits({ amount }, decimals));
  if (free.length > 1 && exact.length !== 1) return undecided(free, 0);
  const paid = free.length > 1 ? exact : free;
  const received = fromBaseUnits(
    paid.reduce((sum, { units }) => sum + units, 0n),
    decimals,
  );
  if (compare(received, config.min_increase) < 0)
    return {
      progress: {},
      why: {
        error_code: 'DEPOSIT_AMOUNT_MISMATCH',
        error_message: `${hash} paid ${received}, less than the expected ${config.min_increase}`,
      },
    };
  const payments = paid.map(({ reference, units }) => {
    const amount = fromBaseUnits(units, decimals);
    return { source: sourceOf(config), reference, amount, total: amount };
  });
  return { payments, facts: { tx_hash: hash } };
}

/** Longest search of one observation, in milliseconds. */
const SEARCH_MS = 8_000;

/** Returns the payment of exactly the amount since the baseline, if only this node can own it. */
async function paidSince(of: Look, token: Address): Promise<Seen> {
  const { connection, config, baseline, amount, decimals, settled, final, prior } = of;
  const known = readCandidates(prior['candidates']);
  const searched = typeof prior['searched_to'] === 'string' ? BigInt(prior['searched_to']) : null;
  const from = (searched ?? BigInt(baseline.baseline_block)) + 1n;
  const payee = { token, to: config.address, units: baseUnits({ amount }, decimals) };
  const { arrivals, to } = await searchArrivals(
    connection,
    payee,
    { from, to: settled },
    SEARCH_MS,
  );
  const found = arrivals.map(({ reference, block }) => ({ reference, block: block.toString() }));
  // Blocks that are not final are searched again later, since other blocks may replace them.
  const until = to < final ? to : final;
  const kept = [...known, ...found.filter(({ block }) => BigInt(block) <= until)];
  const progress =
    until < from
      ? { candidates: known, ...(searched === null ? {} : { searched_to: searched.toString() }) }
      : { candidates: kept, searched_to: until.toString() };
  if (to < settled)
    return {
      progress,
      why: {
        error_code: 'PAYMENT_SEARCH_UNFINISHED',
        error_message: 'the search for payments goes on in newer blocks',
      },
    };
  const all = [...known, ...found];
  const waiting = (await of.arrivals?.waiting(placeOf(config))) ?? [];
  // A transaction that another node's `match_from` names belongs to that node, whatever its amount.
  const open = (await unclaimed(all, of)).filter(
    ({ reference }) =>
      !waiting.some((each) => each.tx_hash !== null && reference.startsWith(`${each.tx_hash}#`)),
  );
  const [first] = open;
  if (first === undefined) return { progress };
  const rivals = waiting.filter(
    (each) =>
      each.tx_hash === null &&
      compare(each.amount, amount) === 0 &&
      (each.baseline_block === null ||
        open.some(({ block }) => BigInt(block) > BigInt(each.baseline_block ?? 0))),
  );
  if (open.length > 1 || rivals.length > 0) return undecided(open, rivals.length, progress);
  const { reference } = first;
  return {
    payments: [{ source: sourceOf(config), reference, amount, total: amount }],
    facts: { tx_hash: reference.replace(/#.*/, '') },
  };
}

/**
 * Returns a payment in the chain's own coin: the increase since the baseline, minus what other
 * nodes have claimed of it.
 */
async function coinSince(of: Look): Promise<Seen> {
  const { connection, config, baseline, amount, decimals, settled } = of;
  const { address } = config;
  const balance = fromBaseUnits(
    await readBalance(connection, { owner: address, token: null, block: settled }),
    decimals,
  );
  const total = subtract(balance, baseline.baseline_amount);
  const source = coinSourceOf(config);
  const reference = address.toLowerCase();
  // With `baseline_amount` the baseline has no block to count from, so every claim is subtracted.
  const since = config.baseline_amount === undefined ? baseline.baseline_block : '0';
  const left = ((await of.arrivals?.claimed(source, [reference])) ?? [])
    .filter((each) => !each.own)
    .filter(({ until }) => typeof until !== 'string' || BigInt(until) > BigInt(since))
    .reduce((rest, each) => subtract(rest, each.amount), total);
  if (compare(left, amount) < 0) return { progress: {} };
  const rivals = (await of.arrivals?.waiting(placeOf(config))) ?? [];
  const all = rivals.reduce((sum, each) => add(sum, each.amount), amount);
  const isOurs =
    compare(left, amount) === 0 && !rivals.some((each) => compare(each.amount, amount) === 0);
  if (!isOurs && compare(left, all) < 0) return { progress: {}, why: ambiguous(1, rivals.length) };
  const until = settled.toString();
  return {
    payments: [{ source, reference, amount, total, since, until }],
    facts: { balance },
  };
}

/** Returns the payments that no other node has claimed. */
async function unclaimed<T extends Pick<Candidate, 'reference'>>(
  all: readonly T[],
  { arrivals, config }: Look,
): Promise<readonly T[]> {
  const references = all.map(({ reference }) => reference);
  const claimed = (await arrivals?.claimed(sourceOf(config), references)) ?? [];
  return all.filter(
    ({ reference }) => !claimed.some((each) => !each.own && each.reference === reference),
  );
}

/** Returns up to 20 of the payments, for the operator who decides. */
function undecided(
  payments: readonly Pick<Candidate, 'reference'>[],
  others: number,
  progress: JsonObject = {},
): Seen {
  const references = payments.slice(0, 20).map(({ reference }) => reference);
  return {
    progress: { ...progress, unclaimed: references },
    why: ambiguous(payments.length, others),
  };
}

function ambiguous(payments: number, others: number) {
  return {
    error_code: 'PAYMENT_AMBIGUOUS',
    error_message: `${String(payments)} unclaimed payments of this amount have arrived at the address, and ${String(others)} other nodes wait there: a person must decide which payment belongs to which node`,
  };
}

interface Candidate {
  readonly reference: string;
  readonly block: string;
}

/** Reads the payments that earlier observations found in final blocks. */
function readCandidates(value: JsonValue | undefined): readonly (Candidate & JsonObject)[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: JsonValue) => {
    const { reference, block } = isObject(each) ? each : {};
    return typeof reference === 'string' && typeof block === 'string' && /^[0-9]+$/.test(block)
      ? [{ reference, block }]
      : [];
  });
}
