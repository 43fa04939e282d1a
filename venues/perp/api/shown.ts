/** Returns rows of the perps venue as callers see them, and the audit subject of a change. */
import type { z } from 'zod';
import type { AuditAction } from '../../../domain/events.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { AgentWallet, PerpBinding, PerpMaster } from '../../../domain/perps/registry.ts';
import { checksummed } from '../../../platform/evm-address.ts';
import type { Subject } from '../../../api/audit/refused.ts';
import type { bindingResponse, masterResponse, walletResponse } from './schema.ts';

export function masterView(master: PerpMaster): z.input<typeof masterResponse> {
  return { ...master, master_address: checksummed(master.master_address) };
}

export function bindingView(binding: PerpBinding): z.input<typeof bindingResponse> {
  const { sub_account_address } = binding;
  return {
    ...binding,
    sub_account_address: sub_account_address === null ? null : checksummed(sub_account_address),
  };
}

export function walletView(wallet: AgentWallet): z.input<typeof walletResponse> {
  return { ...wallet, address: checksummed(wallet.address) };
}

type Verb<Entity extends string> =
  Extract<AuditAction, `${Entity}.${string}`> extends `${Entity}.${infer Name}` ? Name : never;

/** Returns the audit subject of a request, with its body as sent. */
export function subjectOf<Entity extends 'perp_master' | 'perp_binding' | 'perp_agent_wallet'>(
  entity_type: Entity,
  verb: Verb<Entity>,
  entity_key: string,
  body: object,
): Subject {
  return {
    action: `${entity_type}.${verb}` as AuditAction,
    entity_type,
    entity_key,
    details: JSON.parse(JSON.stringify(body)) as JsonObject,
  };
}
