/** The perps venue: its executors, and what may be signed for its nodes. */
import type { Executor } from '../../domain/executor.ts';
import type { SignedNode } from '../../domain/signing.ts';
import type { EvmVenue } from '../evm/config.ts';
import type { ActReader, PlannedAct, PlannedMessage } from '../evm/signing.ts';
import { transferOn } from '../evm/transfer-act.ts';
import { buildAct, type PerpAct } from './actions.ts';
import type { PerpVenue } from './config.ts';
import { createDepositExecutor } from './deposit.ts';
import {
  depositRefusal,
  readDepositPlan,
  readTopUpPlan,
  readWithdrawPlan,
  rejected,
  type PerpLane,
} from './plan.ts';
import { topUpAct, topUps } from './top-up.ts';
import { createUserSignedExecutor } from './user-signed.ts';
import { withdrawAct, withdrawals } from './withdraw.ts';

/** Of the one bound venue. */
export function createPerpExecutors(lane: PerpLane): readonly Executor[] {
  return [
    createDepositExecutor(lane),
    createUserSignedExecutor(lane, withdrawals(lane)),
    createUserSignedExecutor(lane, topUps(lane)),
  ];
}

/** What a node of the venue may have signed, by its plan and the nonce of its attempt. */
export function perpActs(venue: PerpVenue, evmVenues: readonly EvmVenue[]): ActReader {
  return (signed) => {
    switch (signed.node.action_type) {
      case 'perp_deposit':
        return depositOf(signed, venue, evmVenues);
      case 'perp_withdraw': {
        const plan = readWithdrawPlan(readOf(signed), venue);
        return messageOf(signed, (nonce) => withdrawAct(venue, plan, nonce));
      }
      case 'agent_wallet_top_up': {
        const plan = readTopUpPlan(readOf(signed), venue);
        return messageOf(signed, (nonce) => topUpAct(venue, plan, nonce));
      }
      default:
        return null;
    }
  };
}

function depositOf(
  signed: SignedNode,
  venue: PerpVenue,
  evmVenues: readonly EvmVenue[],
): PlannedAct {
  const plan = readDepositPlan(readOf(signed));
  const refusal = depositRefusal(plan, readOf(signed), { venue, evmVenues });
  return {
    chain_id: plan.chain_id,
    act: transferOn(plan),
    refusal: refusal === null ? null : refusal.message,
  };
}

function messageOf({ perp }: SignedNode, act: (nonce: number) => PerpAct): PlannedMessage {
  const nonce = perp?.action?.nonce;
  if (nonce === undefined)
    throw rejected('ACTION_NONCE_MISSING', 'the attempt was given no nonce of the venue');
  return { typed_data: buildAct(act(nonce)).typed_data };
}

function readOf({ node, amount }: SignedNode) {
  return { config: node.config, asset: node.asset, amount };
}
