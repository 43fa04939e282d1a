/**
 * Actions that a master signs for its own account, as EIP-712 data and as a request body. The types
 * and their order come from the client library; nothing else is ever signed for this venue.
 * Source: docs/perps-venue-facts.md 1.1, 1.3.
 */
import {
  ApproveAgentTypes,
  SendAssetTypes,
  Withdraw3Types,
} from '@nktkas/hyperliquid/api/exchange';
import type { JsonObject } from '../../domain/json.ts';
import { normalize } from '../../domain/money.ts';
import type { PerpNetwork } from './config.ts';

/** The venue ignores the wallet's chain, so all our actions name the same one. */
const SIGNATURE_CHAIN = { hex: '0xa4b1', id: 42_161 } as const;

interface Signed {
  readonly network: PerpNetwork;
  /** Milliseconds; each signer uses each once. */
  readonly nonce: number;
}

/** An action; addresses in any case, amounts as decimals in units of the asset. */
export type PerpAct =
  | ({
      readonly type: 'withdraw3';
      readonly destination: string;
      /** The amount that leaves the account, including the fee. */
      readonly amount: string;
    } & Signed)
  | ({
      readonly type: 'sendAsset';
      /** Another account of the venue; the amount goes to its perps. */
      readonly destination: string;
      readonly token: string;
      readonly amount: string;
    } & Signed)
  | ({
      readonly type: 'approveAgent';
      readonly agent_address: string;
      /** 1 to 16 characters. */
      readonly agent_name: string;
      /** Milliseconds since 1970; the agent may sign until then. */
      readonly valid_until_ms: number;
    } & Signed);

/** An action as sent and as signed. */
export interface BuiltAct {
  /** The `action` of the body; its fields are those of the message, byte for byte. */
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

/** Deterministic: the same action always gives the same bytes. */
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

/** The body of `POST /exchange` for a signed act. */
export function bodyOf(
  { action }: Pick<BuiltAct, 'action'>,
  { nonce, signature }: { readonly nonce: number; readonly signature: string },
): string {
  const [r, s, v] = [signature.slice(0, 66), `0x${signature.slice(66, 130)}`, signature.slice(130)];
  return JSON.stringify({ action, nonce, signature: { r, s, v: Number.parseInt(v, 16) } });
}
