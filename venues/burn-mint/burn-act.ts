/** A burn as an act: one call of the token messenger, and the message that this call emits. */
import {
  encodeFunctionData,
  isAddressEqual,
  parseEventLogs,
  type Address,
  type Hex,
  type TransactionReceipt,
} from 'viem';
import { fromBaseUnits } from '../../domain/money.ts';
import { actDescriptor, type Act, type Did, type PathEnd } from '../evm/act.ts';
import type { EvmCall } from '../evm/call.ts';
import type { EvmVenue } from '../evm/config.ts';
import type { TokenDecimals } from '../evm/decimals.ts';
import { baseUnits } from '../evm/plan.ts';
import { padded } from '../evm/words.ts';
import { MESSAGE_TRANSMITTER, TOKEN_MESSENGER } from './contracts.ts';
import { readMessage, type BurnMessage } from './message.ts';
import { entriesOf, readBurnPlan, type BurnPlan, type LaneVenue } from './plan.ts';

export const CCTP_BURN_DESCRIPTOR = actDescriptor({
  executor_key: 'cctp.burn',
  action_types: ['cctp_burn'],
  provider: 'cctp',
  // The burn shows that the tokens are burnt and attested; only the mint shows that they arrived.
  completion_assurances: ['provider_completed'],
});

export function burnAct(venues: readonly EvmVenue[]): Act<BurnPlan> {
  return {
    descriptor: CCTP_BURN_DESCRIPTOR,
    noun: 'burn',
    read: (of) => readBurnPlan(of, venues),
    move: (plan) => ({
      chain_id: plan.source.chain_id,
      outflow: {
        token: plan.token,
        amount: plan.amount,
        leaves_signer: true,
        pays_bridge: false,
      },
      payee: { address: plan.mint_recipient, field: 'mint_recipient', venue: plan.destination },
      terms: entriesOf(plan),
      path: { here: endOf(plan.source), there: endOf(plan.destination) },
    }),
    effect: (plan, { units, decimals }) => ({
      call: () => burnCall(plan, units, decimals),
      did: (from, receipt) => didBurn(plan, decimals, from, receipt),
    }),
  };
}

function endOf(venue: LaneVenue): PathEnd {
  const { token_messenger, message_transmitter } = venue.cctp;
  return { venue, contracts: [token_messenger, message_transmitter] };
}

function burnCall(plan: BurnPlan, units: bigint, decimals: TokenDecimals): EvmCall {
  return {
    to: plan.source.cctp.token_messenger,
    value: 0n,
    data: encodeFunctionData({
      abi: TOKEN_MESSENGER,
      functionName: 'depositForBurn',
      args: [
        units,
        plan.destination.cctp.domain,
        padded(plan.mint_recipient),
        plan.token,
        plan.destination_caller,
        baseUnits({ amount: plan.max_fee }, decimals),
        plan.threshold,
      ],
    }),
  };
}

/**
 * Returns what the mined burn did: `BURN_NOT_SEEN` if the transmitter emitted no such message. That
 * is not a failure: the tokens may be gone.
 */
export function didBurn(
  plan: BurnPlan,
  decimals: TokenDecimals,
  from: Address,
  receipt: TransactionReceipt,
): Did {
  const emitted = emittedOf(plan, decimals, from, receipt);
  if (emitted === null)
    return {
      ok: false,
      error_code: 'BURN_NOT_SEEN',
      error_message:
        "the transaction succeeded, but the transmitter emitted no message of this burn; look at the transaction's logs",
    };
  return {
    ok: true,
    output: {
      requested_amount: plan.amount,
      submitted_amount: fromBaseUnits(baseUnits(plan, decimals), decimals),
      max_fee: plan.max_fee,
      source_chain_id: plan.source.chain_id,
      destination_chain_id: plan.destination.chain_id,
      mint_recipient: plan.mint_recipient,
      message: emitted,
    },
  };
}

/**
 * Returns the planned burn's message from the transmitter's logs in the receipt; null if there is
 * none.
 */
function emittedOf(
  plan: BurnPlan,
  decimals: TokenDecimals,
  from: Address,
  receipt: TransactionReceipt,
): Hex | null {
  const { source } = plan;
  const logs = parseEventLogs({
    abi: MESSAGE_TRANSMITTER,
    eventName: 'MessageSent',
    logs: receipt.logs,
  });
  const found = logs.find((log) => {
    if (!isAddressEqual(log.address, source.cctp.message_transmitter)) return false;
    const reading = readMessage(log.args.message);
    return (
      reading.ok &&
      isPlanned(plan, decimals, reading.message) &&
      reading.message.message_sender === padded(from)
    );
  });
  return found?.args.message ?? null;
}

/** Returns whether a message is the planned burn, whoever burnt the tokens. */
export function isPlanned(plan: BurnPlan, decimals: TokenDecimals, message: BurnMessage): boolean {
  const { source, destination } = plan;
  const wanted: Partial<BurnMessage> = {
    source_domain: source.cctp.domain,
    destination_domain: destination.cctp.domain,
    sender: padded(source.cctp.token_messenger),
    destination_messenger: padded(destination.cctp.token_messenger),
    destination_caller: plan.destination_caller,
    min_finality: plan.threshold,
    burn_token: padded(plan.token),
    mint_recipient: padded(plan.mint_recipient),
    amount: baseUnits(plan, decimals),
    max_fee: baseUnits({ amount: plan.max_fee }, decimals),
  };
  const names = Object.keys(wanted) as (keyof BurnMessage)[];
  return names.every((name) => message[name] === wanted[name]);
}
