/**
 * The way of a burn from one chain to the other, asked before anything is gone: the contracts of
 * both sides, and that what is burnt can be minted.
 */
import { encodeFunctionData, isAddressEqual, type Address } from 'viem';
import { fromBaseUnits } from '../../domain/money.ts';
import { requireUnpaused } from '../evm/act-executor.ts';
import type { EvmConnection } from '../evm/client.ts';
import { requireCode } from '../evm/draft.ts';
import { isRevert, rpcMessage } from '../evm/errors.ts';
import { baseUnits } from '../evm/plan.ts';
import { revertReason } from '../evm/revert-reason.ts';
import { padded } from '../evm/words.ts';
import { MESSAGE_TRANSMITTER, MINTED_TOKEN, TOKEN_MESSENGER, TOKEN_MINTER } from './contracts.ts';
import { rejected, type BurnPlan, type LaneVenue } from './plan.ts';

/**
 * What brings it back has to be there, and to be of the chains that the venue entries say: a domain
 * that is another chain's would have it minted there. The minter may not be paused, and the
 * token must let the minter give `units` (base units) to the payee now.
 *
 * @throws ExecutorFault `rejected` `BRIDGE_ROUTE_MISSING`, `BRIDGE_PAUSED`,
 *   `DESTINATION_TOKEN_MISSING`, `MINT_WOULD_FAIL`.
 */
export async function requireLane(
  source: EvmConnection,
  destination: EvmConnection,
  plan: BurnPlan,
  units: bigint,
): Promise<void> {
  const { minted, token } = plan;
  await requireSide(source, plan.source, plan.destination);
  await requireSide(destination, plan.destination, plan.source);
  await requireCode(destination, minted);
  const { cctp, venue_key } = plan.destination;
  const minter = await destination.ask((client) =>
    client.readContract({
      address: cctp.token_messenger,
      abi: TOKEN_MESSENGER,
      functionName: 'localMinter',
    }),
  );
  const local = await destination.ask((client) =>
    client.readContract({
      address: minter,
      abi: TOKEN_MINTER,
      functionName: 'getLocalToken',
      args: [plan.source.cctp.domain, padded(token)],
    }),
  );
  if (!isAddressEqual(local, minted))
    throw rejected(
      'DESTINATION_TOKEN_MISSING',
      `venue ${venue_key} lists ${minted}, and what is minted there for ${token} is ${local}`,
    );
  const [here, there] = await Promise.all([source.decimals(token), destination.decimals(minted)]);
  if (here !== there)
    throw rejected(
      'DESTINATION_TOKEN_MISSING',
      `${token} has ${here} decimals, and ${minted} has ${there}`,
    );
  await requireUnpaused(destination, minter);
  await requireMint(destination, plan, minter, units);
}

/**
 * The token's own `mint`, as its minter calls it: it refuses who is on its list of the blocked, and
 * what exceeds the minter's allowance, which a fee of the bridge is part of.
 */
async function requireMint(
  connection: EvmConnection,
  { minted, mint_recipient, destination }: BurnPlan,
  minter: Address,
  units: bigint,
): Promise<void> {
  const data = encodeFunctionData({
    abi: MINTED_TOKEN,
    functionName: 'mint',
    args: [mint_recipient, units],
  });
  const would = `venue ${destination.venue_key} would not mint it to ${mint_recipient}`;
  try {
    const answer = await connection.raw((client) =>
      client.call({ account: minter, to: minted, data }),
    );
    if (BigInt(answer.data ?? '0x0') !== 0n) return;
  } catch (error) {
    if (!isRevert(error)) return connection.ask(() => Promise.reject(error));
    throw rejected('MINT_WOULD_FAIL', `${would}: ${revertReason(error) ?? rpcMessage(error)}`);
  }
  throw rejected('MINT_WOULD_FAIL', `${would}: the token says no`);
}

/** The contracts of one side are each other's, of its domain, and know the other side's. */
async function requireSide(
  connection: EvmConnection,
  { cctp, venue_key }: LaneVenue,
  other: LaneVenue,
): Promise<void> {
  const messenger = { address: cctp.token_messenger, abi: TOKEN_MESSENGER } as const;
  const [transmitter, remote, domain] = await Promise.all([
    connection.ask((client) =>
      client.readContract({ ...messenger, functionName: 'localMessageTransmitter' }),
    ),
    connection.ask((client) =>
      client.readContract({
        ...messenger,
        functionName: 'remoteTokenMessengers',
        args: [other.cctp.domain],
      }),
    ),
    connection.ask((client) =>
      client.readContract({
        address: cctp.message_transmitter,
        abi: MESSAGE_TRANSMITTER,
        functionName: 'localDomain',
      }),
    ),
  ]);
  if (
    domain === cctp.domain &&
    isAddressEqual(transmitter, cctp.message_transmitter) &&
    remote.toLowerCase() === padded(other.cctp.token_messenger)
  )
    return;
  throw rejected(
    'BRIDGE_ROUTE_MISSING',
    `the contracts of venue ${venue_key} are of domain ${domain}, with transmitter ${transmitter} and ${remote} as the messenger of domain ${other.cctp.domain}, and the venues file says otherwise`,
  );
}

/** The contract asks for a least fee, and reverts below it: `rejected` `FEE_BELOW_MINIMUM`. */
export async function requireFee(
  connection: EvmConnection,
  plan: BurnPlan,
  units: bigint,
  decimals: number,
): Promise<void> {
  const least = await connection.ask((client) =>
    client.readContract({
      address: plan.source.cctp.token_messenger,
      abi: TOKEN_MESSENGER,
      functionName: 'getMinFeeAmount',
      args: [units],
    }),
  );
  if (baseUnits({ amount: plan.max_fee }, decimals) >= least) return;
  throw rejected(
    'FEE_BELOW_MINIMUM',
    `the burn asks for a max_fee of at least ${fromBaseUnits(least, decimals)}, and the plan allows ${plan.max_fee}`,
  );
}
