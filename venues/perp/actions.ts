/**
 * Builds the actions that a master account signs for itself, as EIP-712 data and as a request body.
 * The types and their order come from the client library; nothing else is ever signed for this
 * venue. Source: docs/perps-venue-facts.md 1.1, 1.3.
 */
import {
  ApproveAgentTypes,
  SendAssetTypes,
  Withdraw3Types,
} from '@nktkas/hyperliquid/api/exchange';
import type { JsonObject } from '../../domain/json.ts';
import { normalize } from '../../domain/money.ts';
import type { PerpNetwork } from './config.ts';

/** The venue ignores the wallet's chain, so all our actions name the same chain. */
const SIGNATURE_CHAIN = { hex: '0xa4b1', id: 42_161 } as const;

interface Signed {
  readonly network: PerpNetwork;
  /** Milliseconds since 1970; each signer uses a nonce only once. */
  readonly nonce: number;
}

/** An action to sign. Addresses in any case, amounts as decimals in units of the asset. */
export type PerpAct =
  | ({
      readonly type: 'withdraw3';
      readonly destination: string;
      /** The amount that leaves the account, including the fee. */
      readonly amount: string;
    } & Signed)
  | ({
      readonly type: 'sendAsset';
      /** Another account of the venue; the amount goes to its perps balance. */
      readonly destination: string;
      readonly token: string;
      readonly amount: string;
    } & Signed)
  | ({
      readonly type: 'approveAgent';
      readonly agent_address: string;
      /** The agent's name, 1 to 16 characters. */
      readonly agent_name: string;
      /** Time until which the agent may sign, in milliseconds since 1970. */
      readonly valid_until_ms: number;
    } & Signed);

/** An action in both forms: as sent and as signed. */
export interface BuiltAct {
  /**
   * The `action` of the request body; its fields equal those of the signed message, byte for byte.
   */
  readonly action: JsonObject;
  /** The payload of an `evm_typed_data` sign request. */
  readonly typed_data: JsonObject;
}

type Types = Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>;

const TYPES = {
  withdraw3: Withdraw3Types,
  sendAsset: SendAssetTypes,
  approveAgent: ApproveAgentTypes,
} as const satisfies Record<PerpAct['type'], Types>;

/** Builds an action. Deterministic: the same action always gives the same bytes. */
export function buildAct(act: PerpAct): BuiltAct {
  const types: Types = TYPES[act.type];
  const [primaryType, fields] = Object.entries(types)[0] ?? ['', []];
  const action: JsonObject = {
    type: act.type,
    signatureChainId: SIGNATURE_CHAIN.hex,
    hyperliquidChain: act.network,
    ...ownFields(act),
  };
  const message = Object.fromEntries(fields.map(({ name }) => [name, action[name] ?? '']));
  return {
    action,
    typed_data: {
      domain: {
        name: 'HyperliquidSignTransaction',
        version: '1',
        chainId: SIGNATURE_CHAIN.id,
        verifyingContract: '0x0000000000000000000000000000000000000000',
      },
      types: { [primaryType]: fields.map(({ name, type }) => ({ name, type })) },
      primaryType,
      message,
    },
  };
}

function ownFields(act: PerpAct): JsonObject {
  switch (act.type) {
    case 'withdraw3':
      return {
        destination: act.destination.toLowerCase(),
        amount: normalize(act.amount),
        time: act.nonce,
      };
    case 'sendAsset':
      return {
        destination: act.destination.toLowerCase(),
        sourceDex: '',
        destinationDex: '',
        token: act.token,
        amount: normalize(act.amount),
        fromSubAccount: '',
        nonce: act.nonce,
      };
    case 'approveAgent':
      return {
        agentAddress: act.agent_address.toLowerCase(),
        // The venue reads the expiry from the name (docs/perps-venue-facts.md 3).
        agentName: `${act.agent_name} valid_until ${String(act.valid_until_ms)}`,
        nonce: act.nonce,
      };
  }
}

/** Returns the body of `POST /exchange` for a signed action. */
export function bodyOf(
  { action }: Pick<BuiltAct, 'action'>,
  { nonce, signature }: { readonly nonce: number; readonly signature: string },
): string {
  const [r, s, v] = [signature.slice(0, 66), `0x${signature.slice(66, 130)}`, signature.slice(130)];
  return JSON.stringify({ action, nonce, signature: { r, s, v: Number.parseInt(v, 16) } });
}
