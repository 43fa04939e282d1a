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
import { depthFor, shownAt } from '../../domain/chains/assurance-table.ts';
import {
  COMPLETION_ASSURANCES,
  ExecutorFault,
  type CallOptions,
  type ExecutionContext,
  type ExecutionResult,
  type Executor,
  type ExecutorDescriptor,
} from '../../domain/executor.ts';
import { compare, fromBaseUnits, subtract } from '../../domain/money.ts';
import { issuesLine } from '../../platform/issues.ts';
import { isWhole, storedBaseline, takeBaseline, type Stored } from './baseline.ts';
import { readBalance, type EvmChains } from './client.ts';
import { balanceObserveConfigSchema, type BalanceObserveConfig } from './config.ts';
import { failWhenRejected } from './errors.ts';
import { checkChains } from './health.ts';
import { settledNumber } from './landed.ts';
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
  const observe = (context: ExecutionContext, call: CallOptions) => look(chains, context, call);
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

/**
 * COMPLETED with `{baseline_block, baseline_amount, block_number, balance, received_amount}`,
 * amounts in units of the asset, when the balance at a block as deep as the assurance asks exceeds
 * the baseline by `min_increase`; else OBSERVING with the baseline as output. FAILED only with
 * `BASELINE_UNAVAILABLE`.
 */
async function look(
  chains: EvmChains,
  context: ExecutionContext,
  call: CallOptions,
): Promise<ExecutionResult> {
  const config = readConfig(context);
  const connection = await chains.open(config.chain_id, call);
  const token = config.token_address ?? null;
  const decimals = await connection.decimals(token);
  const depth = depthFor(context.completion_assurance);
  const newest = await settledNumber(connection, depth);
  const settled = newest > 0n ? newest : 0n;
  const waiting = (from: Stored): ExecutionResult => ({
    next_state: 'OBSERVING',
    output: { ...from },
    retry_after_seconds: connection.venue.poll_interval_seconds,
  });
  const baseline = storedBaseline(context.prior?.output);
  if (!isWhole(baseline)) {
    // Never completes on this look: were its answer lost, nothing would be stored to count from.
    return failWhenRejected(async () =>
      waiting(
        await takeBaseline(connection, { config, context, decimals, settled, stored: baseline }),
      ),
    );
  }
  if (settled < BigInt(baseline.baseline_block)) return waiting(baseline);
  const balance = fromBaseUnits(
    await readBalance(connection, { owner: config.address, token, block: settled }),
    decimals,
  );
  const increase = subtract(balance, baseline.baseline_amount);
  if (compare(increase, config.min_increase) < 0) return waiting(baseline);
  return {
    next_state: 'COMPLETED',
    output: { ...baseline, block_number: settled.toString(), balance, received_amount: increase },
    assurance: shownAt(depth, EVM_BALANCE_OBSERVE_DESCRIPTOR.completion_assurances),
  };
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
