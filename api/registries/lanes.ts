/** POST /admin/nonce-lanes/{chain_id}/{address}/raise */
import { actorOf, auditOf } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import { isWithinBounds, mostOf } from '../../domain/lanes/caps.ts';
import { ADMIN_ROLES } from '../../domain/roles.ts';
import { raiseLaneCaps, readLanes } from '../../store/lanes.ts';
import { auditedRefusal } from '../audit/refused.ts';
import { afterAccepting } from '../http/accepted.ts';
import { defineRoute } from '../http/route.ts';
import { noQuery } from '../http/schemas.ts';
import { laneParams, laneView, raiseLaneCapsRequest } from './schema.ts';
import { laneViewOf } from './view.ts';

export const raiseLaneCapsRoute = defineRoute({
  id: 'raiseLaneCaps',
  method: 'POST',
  power: { widens: 'signers' },
  path: '/admin/nonce-lanes/{chain_id}/{address}/raise',
  roles: ADMIN_ROLES,
  tag: 'Registries',
  summary: 'Raise the fee caps of one nonce lane for a while',
  description:
    'For what takes a nonce that is used already: a replacement, or a transaction that moves nothing. Other lanes and first sends ' +
    "keep the chain's caps. At most ten times those. It takes the place of the raise before; `ttl_seconds` 0 ends it. What raises no cap and lasts no longer never waits for people.",
  params: laneParams,
  query: noQuery,
  body: raiseLaneCapsRequest,
  response: laneView,
  errors: ['nonce_lane_not_found', 'lane_raise_too_large'],
  handler: ({ params: { chain_id, address }, body, requester }, deps) => {
    const { ttl_seconds, reason, max_gas_cost_wei = null, max_fee_per_gas_gwei = null } = body;
    const raise = { max_gas_cost_wei, max_fee_per_gas_gwei };
    const about = {
      action: 'nonce_lane.raise_caps',
      entity_type: 'nonce_lane',
      entity_key: `${chain_id}:${address}`,
      details: { ...raise, ttl_seconds },
    } as const;
    const denied = { ...about, details: { ...about.details, reason } };
    return auditedRefusal(deps, requester, denied, async () => {
      const missing = new ServiceError('nonce_lane_not_found', { context: { chain_id, address } });
      const { caps } = deps.chains.find((each) => each.chain_id === chain_id) ?? {};
      if (caps === undefined) throw missing;
      if (ttl_seconds > 0 && !isWithinBounds(caps, raise)) {
        const { max_gas_cost_wei: cost, max_fee_per_gas_gwei: fee } = caps;
        const most = {
          max_gas_cost_wei: mostOf(cost),
          max_fee_per_gas_gwei: fee === null ? null : mostOf(fee),
        };
        throw new ServiceError('lane_raise_too_large', { context: { chain_id, address, most } });
      }
      const raised = await raiseLaneCaps(deps.db, {
        chain_id,
        address,
        ttl_seconds,
        raise: { ...raise, reason, raised_by: actorOf(requester) },
        audit: auditOf(requester, { ...about, reason }),
      });
      if (!raised) throw missing;
      const lanes = await afterAccepting(() => readLanes(deps.db));
      const lane = lanes.find((each) => each.chain_id === chain_id && each.address === address);
      if (lane === undefined) throw missing;
      return { status: 200, body: laneViewOf(lane, deps.chains) };
    });
  },
});
