/** The roles of callers and what each may call. An API key has exactly one role. */
export const ROLES = ['admin', 'operator', 'agent'] as const;
export type Role = (typeof ROLES)[number];

export const ALL_ROLES: readonly Role[] = ROLES;
export const OPS_ROLES: readonly Role[] = ['admin', 'operator'];
export const ADMIN_ROLES: readonly Role[] = ['admin'];
export const AGENT_ROLES: readonly Role[] = ['agent'];
/** Roles that may retire template versions; an agent only in its namespace. */
export const RETIRE_ROLES: readonly Role[] = ['admin', 'agent'];

/** Roles of a dashboard operator. `allowlist` reads everything and writes only the allowlist. */
export const OPERATOR_ROLES = ['allowlist', 'operator', 'admin'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** A role that a caller can have: that of an API key or of a dashboard operator. */
export type CallerRole = Role | OperatorRole;
export const CALLER_ROLES = [...ROLES, 'allowlist'] as const satisfies readonly CallerRole[];

/** The authenticated caller; when authentication is off, an admin without ids. */
export interface Caller {
  readonly client_id: string | null;
  readonly key_id: string | null;
  readonly role: CallerRole;
  /** Only for an agent: `agent/<authority_key>`. */
  readonly namespace?: string;
  /** Only for a dashboard operator. */
  readonly dashboard?: DashboardRights;
  /**
   * When the key of this request was found active, by the database's clock; never stored. Absent
   * without authentication.
   */
  readonly checked_at?: string;
}

export interface DashboardRights {
  readonly operator: string;
  /** Whether the operator may write the allowlist. */
  readonly allowlist: boolean;
}

/** Prefix of the ids of dashboard operators; ids of clients and API keys contain no colon. */
const DASHBOARD_PREFIX = 'dashboard:';

/**
 * Returns a dashboard operator as a caller, with the one id under which all records name the
 * operator.
 */
export function operatorCaller(role: OperatorRole, dashboard: DashboardRights): Caller {
  const id = dashboardId(dashboard.operator);
  return { client_id: id, key_id: id, role, dashboard };
}

/** Returns the client and key id under which a dashboard operator is recorded. */
export function dashboardId(operator: string): string {
  return DASHBOARD_PREFIX + operator;
}

/** Returns the id under which a person is recorded who acts with `fundadmin`. */
export function fundadminId(person: string): `fundadmin:${string}` {
  return `fundadmin:${person}`;
}

/** Returns the part of a caller that is stored with the caller's actions. */
export function identityOf({
  client_id,
  key_id,
  role,
  namespace,
}: Caller): Omit<Caller, 'dashboard' | 'checked_at'> {
  return { client_id, key_id, role, ...(namespace === undefined ? {} : { namespace }) };
}

/** Returns whether a client id is that of a dashboard operator, who has no client row. */
export function isDashboardId(clientId: string): boolean {
  return clientId.startsWith(DASHBOARD_PREFIX);
}

/**
 * Returns whether a caller with this role may call a route with these roles. The role `allowlist`
 * may read what an operator may read.
 */
export function mayCall(
  role: CallerRole,
  { method, roles }: { readonly method: string; readonly roles: readonly Role[] },
): boolean {
  return role === 'allowlist'
    ? method === 'GET' && roles.includes('operator')
    : roles.includes(role);
}

/** Returns whether commands on movements are offered to the caller. */
export function mayDecide({ role }: Caller): boolean {
  return role === 'operator' || role === 'admin';
}

/** Prefix of every agent namespace. */
const AGENT_PREFIX = 'agent/';

/** Returns the namespace of an agent authority. */
export function agentNamespace(authorityKey: string): string {
  return AGENT_PREFIX + authorityKey;
}

/** Returns whether agents create this key's template versions, of which there may be any number. */
export function isAgentsTemplate(templateKey: string): boolean {
  return templateKey.startsWith(AGENT_PREFIX);
}

/** Returns the namespace of a template key or a path: `agent/<key>`, else the first part. */
export function namespaceIn(name: string): string {
  const parts = name.split('/');
  return parts.slice(0, name.startsWith(AGENT_PREFIX) ? 2 : 1).join('/');
}

/** Returns whether a template key is in a namespace. */
export function isInNamespace(templateKey: string, namespace: string): boolean {
  return templateKey.startsWith(`${namespace}/`);
}

/** Returns the namespace that limits what the caller sees; undefined: sees everything. */
export function namespaceOf(caller: Caller): string | undefined {
  // A bound agent always has a namespace; without one the agent sees nothing.
  return caller.role === 'agent' ? (caller.namespace ?? AGENT_PREFIX) : undefined;
}

/**
 * Returns whether the caller may see and create movements of this template. An agent may do so only
 * in its own namespace.
 */
export function mayMove(caller: Caller, templateKey: string): boolean {
  return (
    caller.role !== 'agent' ||
    (caller.namespace !== undefined && isInNamespace(templateKey, caller.namespace))
  );
}

/**
 * Returns whether the caller may read this template. An agent may not read templates in another
 * agent's namespace.
 */
export function mayReadTemplate(caller: Caller, templateKey: string): boolean {
  return (
    caller.role !== 'agent' || !templateKey.startsWith(AGENT_PREFIX) || mayMove(caller, templateKey)
  );
}

/** Who did something, as shown in the timeline. */
export interface Actor {
  readonly type: 'key' | 'system' | 'executor' | 'operator';
  readonly client_id?: string | null;
  readonly key_id?: string | null;
  readonly label?: string;
}

export const SYSTEM_ACTOR: Actor = { type: 'system' };
