/** The perps venue: its executors, and what may be signed for its nodes. */
import type { Executor } from '../../domain/executor.ts';
import { actReader, type ActReader } from '../evm/act.ts';
import type { EvmVenue } from '../evm/config.ts';
import type { PerpVenue } from './config.ts';
import { createDepositExecutor, depositAct } from './deposit.ts';
import type { PerpLane } from './plan.ts';
import { topUps } from './top-up.ts';
import { createUserSignedExecutor, messageReader } from './user-signed.ts';
import { withdrawals } from './withdraw.ts';

/** Of the one bound venue. */
export function createPerpExecutors(lane: PerpLane): readonly Executor[] {
  return [
    createDepositExecutor(lane),
    createUserSignedExecutor(lane, withdrawals(lane.venue)),
    createUserSignedExecutor(lane, topUps(lane.venue)),
  ];
}

/** What a node of the venue may have signed, by its plan and the nonce of its attempt. */
export function perpActs(venue: PerpVenue, evmVenues: readonly EvmVenue[]): ActReader {
  const deposits = actReader(depositAct({ venue, evmVenues }));
  const messages = messageReader(withdrawals(venue), topUps(venue));
  return (signed, from) => deposits(signed, from) ?? messages(signed, from);
}
