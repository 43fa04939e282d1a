/** Checks whether a caller may call a route; a refusal is audited before the caller gets it. */
import { auditOf, type Requester } from '../../domain/commands/context.ts';
import { ServiceError } from '../../domain/errors.ts';
import { agentNamespace, mayCall, type Caller } from '../../domain/roles.ts';
import type { Database } from '../../prisma/client.ts';
import { writeAudit } from '../../store/audit.ts';
import type { Route } from '../http/route.ts';
import { otherNamespace } from './visible.ts';

/** Throws unless the caller's role and namespace fit the route. */
export async function admit(
  db: Database,
  route: Route,
  params: Readonly<Record<string, string>>,
  requester: Requester,
): Promise<void> {
  const refusal = refusalOf(route, params, requester.caller);
  if (refusal !== null) await refuse(db, route, requester, refusal);
}

/** Throws the refusal; a refusal with status 403 is audited first. */
export async function refuse(
  db: Database,
  route: Route,
  requester: Requester,
  refusal: ServiceError,
): Promise<never> {
  if (refusal.status === 403) {
    const entry = {
      action: 'route.call',
      entity_type: 'route',
      entity_key: route.id,
      outcome: 'denied',
      reason: refusal.code,
    } as const;
    await writeAudit(db, [auditOf(requester, entry)]);
  }
  throw refusal;
}

/** Returns why the caller may not call the route, or null. A route without roles is closed. */
export function refusalOf(
  route: Route,
  params: Readonly<Record<string, string>>,
  caller: Caller,
): ServiceError | null {
  if (route.roles.length === 0) return new ServiceError('route_role_unmapped');
  if (!mayCall(caller.role, route)) return new ServiceError('forbidden');
  if (route.namespaceParam === undefined || caller.role !== 'agent') return null;
  const requested = agentNamespace(params[route.namespaceParam] ?? '');
  return requested === caller.namespace ? null : otherNamespace(caller, requested);
}
