/**
 * `bridge_c.send`: sends tokens to another chain through the token's bridge contract, and pays the
 * bridge in the source chain's coin. Before the send it checks that the destination can receive the
 * tokens.
 */
import type { Executor } from '../../domain/executor.ts';
import { createActExecutor, gasAside } from '../evm/act-executor.ts';
import { OFT } from './contracts.ts';
import type { Bridge } from './plan.ts';
import { requireEnds, requireReceipt, requireWhole, askContract } from './route.ts';
import { sendAct, sendParam, unitsOf } from './send-act.ts';

/**
 * Returns the send executor. It fails with the codes of every act, those of `readSendPlan`,
 * `BRIDGE_AMOUNT_REFUSED`, `DESTINATION_TOKEN_MISSING` and `RECEIPT_WOULD_FAIL`; retryable
 * `ALLOWANCE_INSUFFICIENT`.
 */
export function createBridgeSendExecutor({ chains, venues }: Bridge): Executor {
  return createActExecutor(chains, sendAct(venues), {
    facts: (plan) => ({
      source_chain_id: plan.from.venue.chain_id,
      destination_chain_id: plan.to.venue.chain_id,
      token_address: plan.from.token,
      destination_address: plan.payee,
    }),
    requireEnds: (plan, here, there) => requireEnds(here, there, plan),
    async ready(plan, { connection, there: destination }) {
      const { oft } = plan.from;
      const contract = { address: oft, abi: OFT } as const;
      const moved = await unitsOf(connection, plan);
      const pulls = await askContract(connection, (client) =>
        client.readContract({ ...contract, functionName: 'approvalRequired' }),
      );
      await requireWhole(connection, plan, moved);
      await requireReceipt(destination, plan, moved);
      const { nativeFee: fee } = await askContract(connection, (client) =>
        client.readContract({
          ...contract,
          functionName: 'quoteSend',
          args: [sendParam(plan, moved.units), false],
        }),
      );
      return { fee, ...(pulls ? { spender: oft } : {}) };
    },
    /** Adds the facts that the observe node of the destination reads. */
    completed(_plan, settled, { context }) {
      const prepared = context.prior?.prepared_action ?? {};
      const { bridge_fee_amount: fee_amount, bridge_fee_asset: fee_asset } = prepared;
      const { destination_block, detection_latency_budget_seconds: budget } = prepared;
      return {
        ...settled,
        // Only the destination chain shows whether the bridge delivered the packet.
        assurance: 'provider_completed',
        output: {
          ...gasAside(settled.output),
          // The fee is an upper bound: the bridge refunds the excess in the same transaction.
          ...(fee_amount === undefined ? {} : { fee_amount }),
          ...(fee_asset === undefined ? {} : { fee_asset }),
          ...(destination_block === undefined ? {} : { destination_block }),
          ...(budget === undefined ? {} : { detection_latency_budget_seconds: budget }),
        },
      };
    },
  });
}
