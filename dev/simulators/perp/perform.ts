/** Executes an admitted action on the book. Synchronous, so actions run one by one. */
import { keccak256, stringToHex } from 'viem';
import type { Hex } from '../kit/hex.ts';
import type { Action } from './actions.ts';
import { performApproval, performCreation } from './agents.ts';
import type { ActionContext } from './action-context.ts';
import type { Effect } from './events.ts';
import {
  performClassTransfer,
  performSendAsset,
  performSubAccountTransfer,
  performUsdSend,
  performWithdrawal,
} from './transfers.ts';

export interface Performed {
  readonly effects: readonly Effect[];
  /** The `response` field of the HTTP response. */
  readonly response: { readonly type: string; readonly data?: string };
}

const DEFAULT = { type: 'default' };

/**
 * Returns an admitted action's effects and response.
 *
 * @throws Refused when the venue would refuse the action.
 */
export function perform(context: ActionContext, action: Action): Performed {
  switch (action.type) {
    case 'withdraw3':
      return { effects: performWithdrawal(context, action), response: DEFAULT };
    case 'usdSend':
      return { effects: performUsdSend(context, action), response: DEFAULT };
    case 'sendAsset':
      return { effects: performSendAsset(context, action), response: DEFAULT };
    case 'usdClassTransfer':
      return { effects: performClassTransfer(context, action), response: DEFAULT };
    case 'approveAgent':
      return { effects: performApproval(context, action), response: DEFAULT };
    case 'subAccountTransfer':
      return { effects: performSubAccountTransfer(context, action), response: DEFAULT };
    case 'createSubAccount': {
      const { address, effects } = performCreation(context, action);
      return { effects, response: { type: 'createSubAccount', data: address } };
    }
    case 'noop':
      return { effects: [], response: DEFAULT };
  }
}

/**
 * Returns a hash that differs for each signer and nonce, which is enough here; the venue's own hash
 * is different.
 */
export function actionHash(signer: Hex, nonce: number): Hex {
  return keccak256(stringToHex(`${signer} ${String(nonce)}`));
}
