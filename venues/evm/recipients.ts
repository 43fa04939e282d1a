/** Contracts that keep for good what is brought to them. */
import { isAddressEqual, type Address } from 'viem';
import type { EvmVenue } from './config.ts';

/** The contracts of tokens and bridges that a venue entry names, each with what it is. */
function ownContracts({
  tokens,
  cctp,
  bridge_c,
  perp_deposits: perp,
}: EvmVenue): readonly [string, Address][] {
  return [
    // It credits whoever sends it something, and a bridge is nobody's account.
    ...(perp === undefined
      ? []
      : [[`where deposits of ${perp.venue_key} go to`, perp.address] satisfies [string, Address]]),
    ...tokens.map(({ asset, address }): [string, Address] => [`the token of ${asset}`, address]),
    ...(bridge_c?.tokens ?? []).map(({ asset, oft }): [string, Address] => [
      `the contract that sends ${asset}`,
      oft,
    ]),
    ...(bridge_c === undefined
      ? []
      : [['the endpoint of the bridge', bridge_c.endpoint] satisfies [string, Address]]),
    ...(cctp === undefined
      ? []
      : ([
          ['the token messenger', cctp.token_messenger],
          ['the message transmitter', cctp.message_transmitter],
        ] satisfies [string, Address][])),
  ];
}

/**
 * Why what a bridge brings to `recipient` would be lost, else null: a contract of the destination's
 * own entry pays nothing out again.
 */
export function recipientProblem(
  field: string,
  recipient: Address,
  destination: EvmVenue,
): string | null {
  const own = ownContracts(destination).find(([, address]) => isAddressEqual(address, recipient));
  return own === undefined
    ? null
    : `config.${field}: is ${own[0]} in venue ${destination.venue_key}, and what is sent there is lost`;
}
