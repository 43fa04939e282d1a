/**
 * Recovers the signer of an action from the signature over the venue's own encoding. Source:
 * `hyperliquid/utils/signing.py` of github.com/hyperliquid-dex/hyperliquid-python-sdk;
 * docs/perps-venue-facts.md 1.2 and 1.3.
 */
import { concat, keccak256, numberToHex, padHex, recoverTypedDataAddress, toHex } from 'viem';
import type { Hex } from '../kit/hex.ts';
import {
  isUserSigned,
  lower,
  type Envelope,
  type L1Action,
  type UserSignedAction,
} from './actions.ts';
import { pack, type Packable } from './msgpack.ts';

export type Network = 'Mainnet' | 'Testnet';

interface Field {
  readonly name: string;
  readonly type: string;
}

const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`;
const CHAIN = field('hyperliquidChain string');
const USER_SIGNED: Record<UserSignedAction['type'], { name: string; fields: readonly Field[] }> = {
  withdraw3: {
    name: 'Withdraw',
    fields: [CHAIN, ...fields('destination string, amount string, time uint64')],
  },
  usdSend: {
    name: 'UsdSend',
    fields: [CHAIN, ...fields('destination string, amount string, time uint64')],
  },
  sendAsset: {
    name: 'SendAsset',
    fields: [
      CHAIN,
      ...fields('destination string, sourceDex string, destinationDex string, token string'),
      ...fields('amount string, fromSubAccount string, nonce uint64'),
    ],
  },
  usdClassTransfer: {
    name: 'UsdClassTransfer',
    fields: [CHAIN, ...fields('amount string, toPerp bool, nonce uint64')],
  },
  approveAgent: {
    name: 'ApproveAgent',
    fields: [CHAIN, ...fields('agentAddress address, agentName string, nonce uint64')],
  },
};

/** Returns the signer's address in lower case; null when the signature is invalid. */
export async function recoverSigner(envelope: Envelope, network: Network): Promise<Hex | null> {
  const { action } = envelope;
  const { r, s, v } = envelope.signature;
  // Clients may leave out leading zeros (facts, 1.1).
  const signature = concat([padHex(r as Hex), padHex(s as Hex), numberToHex(v, { size: 1 })]);
  const signed = isUserSigned(action) ? userSignedData(action) : l1Data(envelope, action, network);
  return recoverTypedDataAddress({ ...signed, signature }).then(lower, () => null);
}

function userSignedData(action: UserSignedAction) {
  const { name, fields: typed } = USER_SIGNED[action.type];
  const primaryType = `HyperliquidTransaction:${name}`;
  return {
    domain: {
      name: 'HyperliquidSignTransaction',
      version: '1',
      chainId: Number(action.signatureChainId),
      verifyingContract: ZERO_ADDRESS,
    },
    types: { [primaryType]: [...typed] },
    primaryType,
    message: messageOf(action, typed),
  };
}

function messageOf(action: UserSignedAction, typed: readonly Field[]): Record<string, unknown> {
  const values: Record<string, unknown> = { ...action };
  return Object.fromEntries(
    typed.map(({ name, type }) => {
      const value = values[name] ?? '';
      return [name, type === 'uint64' ? BigInt(value as number) : value];
    }),
  );
}

function l1Data(envelope: Envelope, action: L1Action, network: Network) {
  return {
    domain: { name: 'Exchange', version: '1', chainId: 1337, verifyingContract: ZERO_ADDRESS },
    types: { Agent: [...fields('source string, connectionId bytes32')] },
    primaryType: 'Agent' as const,
    message: {
      source: network === 'Mainnet' ? 'a' : 'b',
      connectionId: l1Hash(envelope, action),
    },
  };
}

/**
 * Returns the hash of an action in the venue's encoding: keys in the venue's order, addresses in
 * lower case.
 */
function l1Hash({ nonce, vaultAddress, expiresAfter }: Envelope, action: L1Action): Hex {
  return keccak256(
    concat([
      toHex(pack(inOrder(action))),
      numberToHex(nonce, { size: 8 }),
      vaultAddress == null ? '0x00' : concat(['0x01', vaultAddress]),
      ...(expiresAfter == null ? [] : ['0x00' as const, numberToHex(expiresAfter, { size: 8 })]),
    ]),
  );
}

function inOrder(action: L1Action): Packable {
  const { type } = action;
  if (type === 'noop') return { type };
  if (type === 'createSubAccount') return { type, name: action.name };
  const { subAccountUser, isDeposit, usd } = action;
  return { type, subAccountUser, isDeposit, usd };
}

function fields(list: string): readonly Field[] {
  return list.split(', ').map(field);
}

function field(text: string): Field {
  const [name = '', type = ''] = text.split(' ');
  return { name, type };
}
