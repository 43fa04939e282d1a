/** POST inventory and allowances of a signer: the balances and allowances of its account. */
import type { z } from 'zod';
import { actorOf, auditOf, type Requester } from '../../domain/commands/context.ts';
import { readOwnApprovals, recordSignerEvent } from '../../store/signer-lifecycle.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { accountsOf, addressToLookAt, chainsToLookAt, findSigner } from './account.ts';
import type {
  allowancesRequest,
  allowancesResponse,
  inventoryRequest,
  inventoryResponse,
} from './schema.ts';

interface Input<B> {
  readonly params: { readonly signer_key: string };
  readonly body: B;
  readonly requester: Requester;
}

/** Returns balances on the requested chains; the rows of a chain that does not answer say so. */
export async function inventory(
  { params: { signer_key }, body, requester }: Input<z.output<typeof inventoryRequest>>,
  deps: ApiDependencies,
): Promise<Reply<z.input<typeof inventoryResponse>>> {
  const signer = await findSigner(signer_key, deps);
  const accounts = accountsOf(deps);
  const chains = chainsToLookAt(body.chains, accounts);
  const address = await addressToLookAt(signer, deps);
  const checked_at = new Date().toISOString();
  const { balances } = await accounts.holdings(address, chains);
  const data = { address, checked_at, balances: balances.map((row) => ({ ...row })) };
  const kept = body.persist
    ? await recordSignerEvent(deps.db, {
        key: signer_key,
        declared: signer.declared,
        event_type: 'inventory',
        data,
        actor: actorOf(requester),
        audit: auditOf(requester, {
          action: 'signer.inventory',
          entity_type: 'signer',
          entity_key: signer_key,
          details: data,
        }),
      })
    : null;
  return {
    status: 200,
    body: {
      signer_key,
      ...data,
      rotation_state: signer.status,
      audit_event_id: kept?.audit_event_id ?? null,
      evidence_id: kept?.event_id ?? null,
    },
  };
}

/** Returns the allowances that are not zero. The evidence is always stored. */
export async function allowances(
  { params: { signer_key }, body, requester }: Input<z.output<typeof allowancesRequest>>,
  deps: ApiDependencies,
): Promise<Reply<z.input<typeof allowancesResponse>>> {
  const signer = await findSigner(signer_key, deps);
  const accounts = accountsOf(deps);
  const chains = chainsToLookAt(body.chains, accounts);
  const address = await addressToLookAt(signer, deps);
  const checked_at = new Date().toISOString();
  const approved = await readOwnApprovals(deps.db, address);
  const scan = await accounts.allowances(address, chains, approved);
  const data = {
    address,
    checked_at,
    allowances: scan.allowances.map((row) => ({ ...row })),
    unsupported_spender_not_checked: scan.unsupported_spender_not_checked,
  };
  const { audit_event_id, event_id } = await recordSignerEvent(deps.db, {
    key: signer_key,
    declared: signer.declared,
    event_type: 'allowances',
    data,
    actor: actorOf(requester),
    audit: auditOf(requester, {
      action: 'signer.allowances',
      entity_type: 'signer',
      entity_key: signer_key,
      details: data,
    }),
  });
  return {
    status: 200,
    body: { signer_key, ...data, audit_event_id, evidence_id: event_id },
  };
}
