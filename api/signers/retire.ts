/** POST /admin/signers/{signer_key}/retire */
import type { z } from 'zod';
import { actorOf, auditOf, type Requester } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import { compare } from '../../domain/money.ts';
import { readOwnApprovals, retireSigner } from '../../store/signer-lifecycle.ts';
import { auditedRefusal } from '../audit/refused.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { liveIdentity } from '../registries/live-identity.ts';
import { accountsOf, findSigner, type FoundSigner } from './account.ts';
import type { retireRequest, retireResponse } from './schema.ts';

interface Input {
  readonly params: { readonly signer_key: string };
  readonly body: z.output<typeof retireRequest>;
  readonly requester: Requester;
}

/** Retires a deprecated signer that is no longer needed and has no funds. */
export function retire(
  { params: { signer_key }, body, requester }: Input,
  deps: ApiDependencies,
): Promise<Reply<z.input<typeof retireResponse>>> {
  const { ack_allowances, dust_threshold_usd } = body;
  const about = {
    action: 'signer.retire',
    entity_type: 'signer',
    entity_key: signer_key,
    details: { ack_allowances, dust_threshold_usd },
  } as const;
  return auditedRefusal(deps, requester, about, async () => {
    const signer = await findSigner(signer_key, deps);
    const seen = await lookedUp(signer, body, deps);
    const outcome = await retireSigner(deps.db, {
      key: signer_key,
      declared: signer.declared,
      acknowledged: ack_allowances,
      seen,
      data: seen,
      actor: actorOf(requester),
      audit: auditOf(requester, about),
    });
    if (outcome === null) throw new ServiceError('signer_not_found', { context: { signer_key } });
    if (!outcome.ok)
      throw new ServiceError('retirement_denied', {
        context: { outcome: 'denied', signer_key, ...outcome.denied },
      });
    const { audit_event_id, event_id } = outcome;
    return {
      status: 200,
      body: {
        outcome: 'retired',
        signer_key,
        retired_with: seen,
        audit_event_id,
        evidence_id: event_id,
      },
    };
  });
}

/**
 * Returns balances, allowances and used nonces of each address that the signer has or had, on every
 * bound chain. `unavailable` says why they are unknown; a signer that is not deprecated is not
 * looked up.
 */
async function lookedUp(
  signer: FoundSigner,
  { dust_threshold_usd }: Input['body'],
  deps: ApiDependencies,
): Promise<JsonObject> {
  if (signer.status !== 'deprecated') return { unavailable: 'not_looked_up' };
  const live = await liveIdentity(deps.signers.get(signer.signer_key));
  const addresses = new Set(signer.known.map((known) => known.toLowerCase()));
  if (live.address !== null) addresses.add(live.address.toLowerCase());
  if (addresses.size === 0) return { unavailable: 'address_unknown' };
  const accounts = accountsOf(deps);
  const chains = accounts.chainIds();
  const found = await Promise.all(
    [...addresses].map(async (address) => {
      const held = await accounts.holdings(address, chains);
      const approved = await readOwnApprovals(deps.db, address);
      return { address, held, scan: await accounts.allowances(address, chains, approved) };
    }),
  );
  const balances = found.flatMap(({ address, held }) =>
    held.balances.map((row) => ({ address, ...row })),
  );
  const problems = balances.filter(({ amount }) => amount === null);
  const ceiling = plain(dust_threshold_usd);
  return {
    ...(problems.length === 0 ? {} : { unavailable: 'chain_unavailable', problems }),
    balances,
    above_dust: balances.filter(({ amount }) => amount !== null && compare(amount, ceiling) > 0),
    accounts: found.map(({ address, held }) => ({
      address,
      used_nonces: held.used_nonces.map((each) => ({ ...each })),
    })),
    allowances: found.flatMap(({ address, scan }) =>
      scan.allowances.map((row) => ({ owner: address, ...row })),
    ),
    unsupported_spender_not_checked: found.some(({ scan }) => scan.unsupported_spender_not_checked),
  };
}

/** Returns the threshold in plain notation, with at most 18 fractional digits. */
function plain(ceiling: number): string {
  return ceiling.toFixed(18).replace(/\.?0+$/, '');
}
