/**
 * Checks the path of a send before anything is sent: both ends have the right contracts, the whole
 * amount arrives, and the destination's token would accept it.
 */
import {
  encodeFunctionData,
  isAddressEqual,
  zeroAddress,
  zeroHash,
  type Address,
  type Hex,
  type PublicClient,
} from 'viem';
import { fromBaseUnits } from '../../domain/money.ts';
import type { EvmConnection } from '../evm/client.ts';
import { requireCode } from '../evm/draft.ts';
import { isContractRefusal, isRevert, rpcMessage } from '../evm/errors.ts';
import { revertReason } from '../evm/revert-reason.ts';
import { padded } from '../evm/words.ts';
import { rejected } from '../node-plan.ts';
import { ENDPOINT, OFT } from './contracts.ts';
import { transferMessage } from './packet.ts';
import type { End, SendPlan } from './plan.ts';
import { sendParam, type SendUnits } from './send-act.ts';

/** Throws unless both ends are as the venue entries say: see {@link requireEnd}. */
export async function requireEnds(
  source: EvmConnection,
  destination: EvmConnection,
  plan: SendPlan,
): Promise<void> {
  await requireEnd(source, plan.from, plan.to, 'TOKEN_MISSING');
  await requireEnd(destination, plan.to, plan.from, 'DESTINATION_TOKEN_MISSING');
  await requireSameUnits(source, destination, plan);
}

/**
 * Throws unless the contracts of one end belong to the bridge, have the entry's endpoint id, and
 * name the other end as their peer. Any other peer contract would receive the tokens instead.
 */
async function requireEnd(
  connection: EvmConnection,
  { venue, oft, token }: End,
  other: End,
  missing: string,
): Promise<void> {
  const { endpoint, eid } = venue.bridge_c;
  await requireCode(connection, token);
  const contract = { address: oft, abi: OFT } as const;
  const [reportedEid, reportedEndpoint, peer, carried] = await Promise.all([
    askContract(connection, (client) =>
      client.readContract({ address: endpoint, abi: ENDPOINT, functionName: 'eid' }),
    ),
    askContract(connection, (client) =>
      client.readContract({ ...contract, functionName: 'endpoint' }),
    ),
    askContract(connection, (client) =>
      client.readContract({
        ...contract,
        functionName: 'peers',
        args: [other.venue.bridge_c.eid],
      }),
    ),
    askContract(connection, (client) =>
      client.readContract({ ...contract, functionName: 'token' }),
    ),
  ]);
  if (!isAddressEqual(carried, token))
    throw rejected(
      missing,
      `${oft} carries ${carried}, and venue ${venue.venue_key} lists ${token}`,
    );
  if (reportedEid === eid && isAddressEqual(reportedEndpoint, endpoint) && isPeer(peer, other))
    return;
  throw rejected(
    'BRIDGE_ROUTE_MISSING',
    `the contracts of venue ${venue.venue_key} are of endpoint ${reportedEid} at ${reportedEndpoint}, with ${peer} as the peer at ${other.venue.bridge_c.eid}, and the venues file says otherwise`,
  );
}

/**
 * Reads from a contract. Throws if the contract refuses or its answer is unreadable: such a
 * contract is not the bridge's.
 */
export async function askContract<T>(
  connection: EvmConnection,
  question: (client: PublicClient) => Promise<T>,
): Promise<T> {
  const answer = await connection.ask((client) =>
    question(client).then(
      (value) => ({ value }),
      (error: unknown) => {
        if (!isContractRefusal(error)) throw error;
        return { refusal: revertReason(error) ?? 'the contract returns no reason' };
      },
    ),
  );
  if ('value' in answer) return answer.value;
  throw rejected(
    'BRIDGE_ROUTE_MISSING',
    `a contract of venue ${connection.venue.venue_key} refuses a read that every token of the bridge answers: ${answer.refusal}`,
  );
}

function isPeer(peer: Hex, { oft }: End): boolean {
  return peer.toLowerCase() === padded(oft);
}

/** Throws unless both ends share the same decimals, since a message counts in shared decimals. */
async function requireSameUnits(
  source: EvmConnection,
  destination: EvmConnection,
  { from, to }: SendPlan,
): Promise<void> {
  const digits = (connection: EvmConnection, address: Address): Promise<number> =>
    askContract(connection, (client) =>
      client.readContract({ address, abi: OFT, functionName: 'sharedDecimals' }),
    );
  const [here, there] = await Promise.all([digits(source, from.oft), digits(destination, to.oft)]);
  if (here !== there)
    throw rejected(
      'BRIDGE_ROUTE_MISSING',
      `both ends must share the same decimals: ${from.oft} has ${here}, and ${to.oft} has ${there}`,
    );
}

/**
 * The limit that the published token reports but does not enforce (`quoteOFT` of `OFTCore.sol`);
 * for a token with 18 decimals this number would be 18 tokens.
 */
const NO_LIMIT = 2n ** 64n - 1n;

/** Throws unless the whole amount would arrive: a token may take a fee or refuse an amount. */
export async function requireWhole(
  connection: EvmConnection,
  plan: SendPlan,
  { units, decimals }: SendUnits,
): Promise<void> {
  const [limit, , receipt] = await askContract(connection, (client) =>
    client.readContract({
      address: plan.from.oft,
      abi: OFT,
      functionName: 'quoteOFT',
      args: [{ ...sendParam(plan, units), minAmountLD: 0n }],
    }),
  );
  const inUnits = (value: bigint): string => fromBaseUnits(value, decimals);
  const most = limit.maxAmountLD === NO_LIMIT ? units : limit.maxAmountLD;
  if (units < limit.minAmountLD || units > most)
    throw rejected(
      'BRIDGE_AMOUNT_REFUSED',
      `the token sends ${inUnits(limit.minAmountLD)} to ${inUnits(limit.maxAmountLD)} at once, and the plan ${plan.amount}`,
    );
  if (receipt.amountSentLD === units && receipt.amountReceivedLD === units) return;
  throw rejected(
    'BRIDGE_AMOUNT_REFUSED',
    `of ${plan.amount} the token would send ${inUnits(receipt.amountSentLD)}, and ${inUnits(receipt.amountReceivedLD)} would arrive`,
  );
}

/**
 * Simulates the token's `lzReceive` as its endpoint will call it. A token that is paused, has too
 * little to release or refuses the payee reverts now, before anything is sent.
 *
 * @throws ExecutorFault `rejected` `RECEIPT_WOULD_FAIL`.
 */
export async function requireReceipt(
  destination: EvmConnection,
  { from, to, payee }: SendPlan,
  { shared }: SendUnits,
): Promise<void> {
  const srcEid = from.venue.bridge_c.eid;
  const sender = padded(from.oft);
  // The nonce is 0 for a token that accepts messages in any order, as the published token does.
  const nonce = await askContract(destination, (client) =>
    client.readContract({
      address: to.oft,
      abi: OFT,
      functionName: 'nextNonce',
      args: [srcEid, sender],
    }),
  );
  const data = encodeFunctionData({
    abi: OFT,
    functionName: 'lzReceive',
    args: [{ srcEid, sender, nonce }, zeroHash, transferMessage(payee, shared), zeroAddress, '0x'],
  });
  const account = to.venue.bridge_c.endpoint;
  try {
    await destination.raw((client) => client.call({ account, to: to.oft, data }));
  } catch (error) {
    if (!isRevert(error)) return destination.ask(() => Promise.reject(error));
    throw rejected(
      'RECEIPT_WOULD_FAIL',
      `${to.oft} of venue ${to.venue.venue_key} would not receive the tokens for ${payee}: ${revertReason(error) ?? rpcMessage(error)}`,
    );
  }
}
