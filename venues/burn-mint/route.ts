/**
 * Checks the path of a burn before anything is burnt: both ends have the right contracts, and the
 * destination can mint the amount.
 */
import { encodeFunctionData, isAddressEqual, type Address } from 'viem';
import { fromBaseUnits } from '../../domain/money.ts';
import { requireUnpaused } from '../evm/act-executor.ts';
import type { EvmConnection } from '../evm/client.ts';
import type { TokenDecimals } from '../evm/decimals.ts';
import { requireCode } from '../evm/draft.ts';
import { isRevert, rpcMessage } from '../evm/errors.ts';
import { baseUnits } from '../evm/plan.ts';
import { revertReason } from '../evm/revert-reason.ts';
import { padded } from '../evm/words.ts';
import { rejected } from '../node-plan.ts';
import { MESSAGE_TRANSMITTER, MINTED_TOKEN, TOKEN_MESSENGER, TOKEN_MINTER } from './contracts.ts';
import type { BurnPlan, LaneVenue } from './plan.ts';

/**
 * Throws unless both ends are as the venue entries say: with another chain's domain the tokens
 * would be minted there. The minter may not be paused, and the token must let it mint `units` (base
 * units) to the payee now.
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
  const minter = await destination.read({
    address: cctp.token_messenger,
    abi: TOKEN_MESSENGER,
    functionName: 'localMinter',
  });
  const local = await destination.read({
    address: minter,
    abi: TOKEN_MINTER,
    functionName: 'getLocalToken',
    args: [plan.source.cctp.domain, padded(token)],
  });
  if (!isAddressEqual(local, minted))
    throw rejected(
      'DESTINATION_TOKEN_MISSING',
      `venue ${venue_key} lists ${minted}, but for ${token} its minter mints ${local}`,
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
 * Simulates the token's `mint`, called by its minter. The token refuses blocked payees and amounts
 * above the minter's allowance, which includes the bridge's fee.
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
  const would = `venue ${destination.venue_key} would not mint the amount to ${mint_recipient}`;
  try {
    const answer = await connection.raw((client) =>
      client.call({ account: minter, to: minted, data }),
    );
    if (BigInt(answer.data ?? '0x0') !== 0n) return;
  } catch (error) {
    if (!isRevert(error)) return connection.ask(() => Promise.reject(error));
    throw rejected('MINT_WOULD_FAIL', `${would}: ${revertReason(error) ?? rpcMessage(error)}`);
  }
  throw rejected('MINT_WOULD_FAIL', `${would}: the token returns false`);
}

/**
 * Throws unless the contracts of one end belong together, have the entry's domain, and name the
 * other end's messenger.
 */
async function requireSide(
  connection: EvmConnection,
  { cctp, venue_key }: LaneVenue,
  other: LaneVenue,
): Promise<void> {
  const messenger = { address: cctp.token_messenger, abi: TOKEN_MESSENGER } as const;
  const [transmitter, remote, domain] = await Promise.all([
    connection.read({ ...messenger, functionName: 'localMessageTransmitter' }),
    connection.read({
      ...messenger,
      functionName: 'remoteTokenMessengers',
      args: [other.cctp.domain],
    }),
    connection.read({
      address: cctp.message_transmitter,
      abi: MESSAGE_TRANSMITTER,
      functionName: 'localDomain',
    }),
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

/**
 * Throws if the plan's `max_fee` is below the minimum, with which the contract would revert.
 *
 * @throws ExecutorFault `rejected` `FEE_BELOW_MINIMUM`.
 */
export async function requireFee(
  connection: EvmConnection,
  plan: BurnPlan,
  units: bigint,
  decimals: TokenDecimals,
): Promise<void> {
  const least = await connection.read({
    address: plan.source.cctp.token_messenger,
    abi: TOKEN_MESSENGER,
    functionName: 'getMinFeeAmount',
    args: [units],
  });
  if (baseUnits({ amount: plan.max_fee }, decimals) >= least) return;
  throw rejected(
    'FEE_BELOW_MINIMUM',
    `the burn requires a max_fee of at least ${fromBaseUnits(least, decimals)}, and the plan allows ${plan.max_fee}`,
  );
}
