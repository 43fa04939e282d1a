/** Creates the executors of the perps venue, and the reader of what its nodes may have signed. */
import type { Executor } from '../../domain/executor.ts';
import { actReader, type ActReader } from '../evm/act.ts';
import type { EvmVenue } from '../evm/config.ts';
import type { PerpVenue } from './config.ts';
import { createDepositExecutor, depositAct } from './deposit.ts';
import type { PerpLane } from './plan.ts';
import { topUps } from './top-up.ts';
import { createUserSignedExecutor, messageReader } from './user-signed.ts';
import { withdrawals } from './withdraw.ts';

export function createPerpExecutors(lane: PerpLane): readonly Executor[] {
  return [
    createDepositExecutor(lane),
    createUserSignedExecutor(lane, withdrawals(lane.venue)),
    createUserSignedExecutor(lane, topUps(lane.venue)),
  ];
}

export function perpActs(venue: PerpVenue, evmVenues: readonly EvmVenue[]): ActReader {
  const deposits = actReader(depositAct({ venue, evmVenues }));
  const messages = messageReader(withdrawals(venue), topUps(venue));
  return (signed, from) => deposits(signed, from) ?? messages(signed, from);
}
