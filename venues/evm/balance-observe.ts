/**
 * Waits until an address holds more than it did: an `observe` node without side effects.
 *
 * The increase is counted from a baseline, and this process remembers nothing. The first looks take
 * the block and, once that is deep enough, what the address held there, and answer OBSERVING with
 * it as output; the caller stores that and gives it back as `prior.output`, so that every later
 * observe, in whichever process, counts from the same block. A crash before the first answer is
 * stored takes a newer baseline: then the node may wait for an increase that has already happened,
 * but never takes an old balance for a new one.
 *
 * `config.baseline` says where to start: `first_observation` (default), the newest block of the
 * first look, suits a node that runs before or beside what pays; `movement_start`, the last block
 * before the movement was created, suits one that runs after it, when the payment may be mined
 * already. Both need an endpoint that keeps balances for as long as a block takes to be final.
 * `config.baseline_amount` overrides both.
 */
import type { Address, Hash } from 'viem';
import { depthFor, shownAt } from '../../domain/chains/assurance-table.ts';
import {
  COMPLETION_ASSURANCES,
  ExecutorFault,
  type Arrivals,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type ExecutorDescriptor,
  type SubmitJournal,
} from '../../domain/executor.ts';
import { isObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { add, compare, fromBaseUnits, subtract } from '../../domain/money.ts';
import type { Claim } from '../../domain/claims.ts';
import { issuesLine } from '../../platform/issues.ts';
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
import { failWhenRejected } from './errors.ts';
import { checkChains } from './health.ts';
import { isCanonical, settledNumber } from './landed.ts';
import { baseUnits } from './plan.ts';

export const EVM_BALANCE_OBSERVE_DESCRIPTOR: ExecutorDescriptor = {
  executor_key: 'evm.balance_observe',
  kind: 'local',
  action_types: ['evm_balance_observe'],
  provider: 'evm',
  chain_family: 'evm',
  same_key_safe: true,
  settle_seconds: 0,
  timeout_seconds: 30,
  in_process: false,
  sends: false,
  not_payees: [],
  // It sees the destination and nothing of the protocol that paid there.
  completion_assurances: COMPLETION_ASSURANCES.filter(
    (assurance) => assurance !== 'protocol_finalized',
  ),
};

/**
 * `evm.balance_observe` over the configured chains. Prepare and submit are refused: it has no side
 * effect.
 */
export function createEvmBalanceObserveExecutor(chains: EvmChains): Executor {
  const refuse = () =>
    Promise.reject(
      new ExecutorFault(
        'rejected',
        'PHASE_NOT_SUPPORTED',
        'evm_balance_observe only observes: use it in an observe node',
      ),
    );
  const observe: Executor['observe'] = (context, call, journal) =>
    look(chains, context, call, journal);
  return {
    descriptor: EVM_BALANCE_OBSERVE_DESCRIPTOR,
    preflight: (context, call) => failWhenRejected(() => check(chains, context, call)),
    prepare: refuse,
    submit: refuse,
    observe,
    recover: observe,
    cancel: () => Promise.resolve({ next_state: 'OBSERVING' }),
    health: (call) => checkChains(chains, call),
  };
}

async function check(
  chains: EvmChains,
  context: ExecutionContext,
  call: CallOptions,
): Promise<null> {
  const config = readConfig(context);
  const connection = await chains.open(config.chain_id, call);
  baseUnits(
    { amount: config.min_increase },
    await connection.decimals(config.token_address ?? null),
  );
  return null;
}

/** What a look goes by. */
interface Look {
  readonly connection: EvmConnection;
  readonly config: BalanceObserveConfig;
  readonly baseline: Baseline;
  /** What has to come, in units of the asset: the amount of the node, or the minimum above it. */
  readonly amount: string;
  readonly decimals: number;
  readonly settled: bigint;
  readonly final: bigint;
  readonly arrivals: Arrivals | undefined;
  readonly prior: JsonObject;
}

/** What a look found: what is claimed, or why nothing is, with what the next goes on from. */
type Seen =
  | { readonly payments: readonly Claim[]; readonly facts: JsonObject }
  | { readonly progress: JsonObject; readonly why?: { error_code: string; error_message: string } };

/**
 * COMPLETED with `{baseline_block, baseline_amount, block_number, received_amount, payments}`,
 * amounts in units of the asset, with what a block as deep as the assurance asks shows as paid
 * since the baseline: what the transaction of the `match_from` node brought, else one payment of
 * exactly the node's amount that no other node has claimed or waits for. OBSERVING else, with
 * `PAYMENT_AMBIGUOUS` where it may be another's. FAILED only with `BASELINE_UNAVAILABLE`.
 */
async function look(
  chains: EvmChains,
  context: ExecutionContext,
  call: CallOptions,
  { arrivals }: Pick<SubmitJournal, 'arrivals'>,
): Promise<ExecutionResult> {
  const config = readConfig(context);
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
    // Never completes on this look: were its answer lost, nothing would be stored to count from.
    return failWhenRejected(async () =>
      waiting({
        ...(await takeBaseline(connection, {
          ...{ config, context, decimals, settled, stored: baseline },
        })),
      }),
    );
  }
  const prior = context.prior?.output ?? {};
  const of: Look = {
    ...{ connection, config, baseline, amount, decimals, settled, arrivals, prior },
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
      ...{ ...baseline, ...seen.facts, block_number: settled.toString(), payments },
      received_amount: payments.reduce((sum, each) => add(sum, each.amount), '0'),
    },
    assurance: shownAt(depth, EVM_BALANCE_OBSERVE_DESCRIPTOR.completion_assurances),
  };
}

/** The transaction that a `match_from` node reported; a bridge's first leg has another chain's. */
function reportedBy(output: JsonObject): unknown {
  const isFirstLeg = ['attested_message', 'packet', 'destination_chain_id'].some((field) =>
    Object.hasOwn(output, field),
  );
  return isFirstLeg ? undefined : output['tx_hash'];
}

/** Where a payment shows: the address, and the token's contract or the chain's own coin. */
function placeOf({ chain_id, token_address, address }: BalanceObserveConfig): string {
  return `evm:${String(chain_id)}:${token_address ?? 'coin'}:${address}`.toLowerCase();
}

const sourceOf = ({ chain_id }: BalanceObserveConfig): string => `evm:${String(chain_id)}`;

/**
 * What the transaction that another node reported has brought here: it is this node's. One that
 * pays several (an exchange sends many withdrawals at once) brings this node what is exactly its
 * amount.
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
        error_message: `${hash} brought ${received}, and at least ${config.min_increase} is waited for`,
      },
    };
  const payments = paid.map(({ reference, units }) => {
    const amount = fromBaseUnits(units, decimals);
    return { source: sourceOf(config), reference, amount, total: amount };
  });
  return { payments, facts: { tx_hash: hash } };
}

/** How long one look searches. */
const SEARCH_MS = 8_000;

/** One payment of exactly the amount since the baseline that can be no other node's. */
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
  // What is not final is searched again: another block may take its place.
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
        error_message: 'payments are still looked for in newer blocks',
      },
    };
  const all = [...known, ...found];
  const waiting = (await of.arrivals?.waiting(placeOf(config))) ?? [];
  // What another node's `match_from` reported is that node's, whatever its amount.
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
 * The amount in the chain's own coin, of what the address holds more than at the baseline and no
 * other node has claimed since.
 */
async function coinSince(of: Look): Promise<Seen> {
  const { connection, config, baseline, amount, decimals, settled } = of;
  const { address } = config;
  const balance = fromBaseUnits(
    await readBalance(connection, { owner: address, token: null, block: settled }),
    decimals,
  );
  const total = subtract(balance, baseline.baseline_amount);
  const source = `${sourceOf(config)}:coin`;
  const reference = address.toLowerCase();
  // An amount that the plan gives counts from no block: every claim is part of it.
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

/** Those that no other node has claimed. */
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

/** Shows some of the payments to the person who says whose they are. */
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
    error_message: `${String(payments)} unclaimed payments of this amount have come to the address, and ${String(others)} other nodes wait there: which is whose, a person has to say`,
  };
}

interface Candidate {
  readonly reference: string;
  readonly block: string;
}

/** Payments that earlier looks have found in final blocks. */
function readCandidates(value: JsonValue | undefined): readonly (Candidate & JsonObject)[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: JsonValue) => {
    const { reference, block } = isObject(each) ? each : {};
    return typeof reference === 'string' && typeof block === 'string' && /^[0-9]+$/.test(block)
      ? [{ reference, block }]
      : [];
  });
}

function readConfig(context: ExecutionContext): BalanceObserveConfig {
  const parsed = balanceObserveConfigSchema.safeParse(context.config);
  if (parsed.success) return parsed.data;
  throw new ExecutorFault(
    'rejected',
    'CONFIG_INVALID',
    issuesLine(parsed.error, { under: 'config' }),
  );
}
