/** Who may call what. A key has exactly one role. */
export const ROLES = ['admin', 'operator', 'agent'] as const;
export type Role = (typeof ROLES)[number];

export const ALL_ROLES: readonly Role[] = ROLES;
export const OPS_ROLES: readonly Role[] = ['admin', 'operator'];
export const ADMIN_ROLES: readonly Role[] = ['admin'];
export const AGENT_ROLES: readonly Role[] = ['agent'];
/** The roles that retire template versions; an agent in its namespace. */
export const RETIRE_ROLES: readonly Role[] = ['admin', 'agent'];

/**
 * The roles of a dashboard operator; `allowlist` reads everything, and writes the allowlist alone.
 */
export const OPERATOR_ROLES = ['allowlist', 'operator', 'admin'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** A role that a caller can have: a key's, or an operator's of the dashboard. */
export type CallerRole = Role | OperatorRole;
export const CALLER_ROLES = [...ROLES, 'allowlist'] as const satisfies readonly CallerRole[];

/** The authenticated caller; with authentication switched off, an admin without ids. */
export interface Caller {
  readonly client_id: string | null;
  readonly key_id: string | null;
  readonly role: CallerRole;
  /** Of an agent only: `agent/<authority_key>`. */
  readonly namespace?: string;
  /** Of an operator of the dashboard only. */
  readonly dashboard?: DashboardRights;
}

export interface DashboardRights {
  readonly operator: string;
  /** Whether the operator writes the allowlist. */
  readonly allowlist: boolean;
}

/** The ids of callers of the dashboard begin with this; no client and no key has a colon. */
const DASHBOARD_PREFIX = 'dashboard:';

/** An operator of the dashboard as a caller, under the one id by which everything records them. */
export function operatorCaller(role: OperatorRole, dashboard: DashboardRights): Caller {
  const id = dashboardId(dashboard.operator);
  return { client_id: id, key_id: id, role, dashboard };
}

/** The client and key under which a dashboard operator is recorded. */
export function dashboardId(operator: string): string {
  return DASHBOARD_PREFIX + operator;
}

/** What is stored of a caller with its actions. */
export function identityOf({
  client_id,
  key_id,
  role,
  namespace,
}: Caller): Omit<Caller, 'dashboard'> {
  return { client_id, key_id, role, ...(namespace === undefined ? {} : { namespace }) };
}

/** Whether a client id is a dashboard operator, for whom no client row exists. */
export function isDashboardId(clientId: string): boolean {
  return clientId.startsWith(DASHBOARD_PREFIX);
}

/**
 * Whether a caller of this role may call a route with these roles. The role `allowlist` reads what
 * an operator reads.
 */
export function mayCall(
  role: CallerRole,
  { method, roles }: { readonly method: string; readonly roles: readonly Role[] },
): boolean {
  return role === 'allowlist'
    ? method === 'GET' && roles.includes('operator')
    : roles.includes(role);
}

/** Whether the caller may be offered commands on movements. */
export function mayDecide({ role }: Caller): boolean {
  return role === 'operator' || role === 'admin';
}

/** Every agent namespace begins with this. */
const AGENT_PREFIX = 'agent/';

/** The namespace of an agent authority. */
export function agentNamespace(authorityKey: string): string {
  return AGENT_PREFIX + authorityKey;
}

/** Whether agents create the versions of this template key, as many as they like. */
export function isAgentsTemplate(templateKey: string): boolean {
  return templateKey.startsWith(AGENT_PREFIX);
}

/** The namespace that a template key or a path lies in: `agent/<key>`, else its first part. */
export function namespaceIn(name: string): string {
  const parts = name.split('/');
  return parts.slice(0, name.startsWith(AGENT_PREFIX) ? 2 : 1).join('/');
}

/** Whether a template key lies in a namespace. */
export function isInNamespace(templateKey: string, namespace: string): boolean {
  return templateKey.startsWith(`${namespace}/`);
}

/** The namespace that bounds what the caller sees; undefined for callers who see everything. */
export function namespaceOf(caller: Caller): string | undefined {
  // A bound agent always has one; without it the agent sees nothing.
  return caller.role === 'agent' ? (caller.namespace ?? AGENT_PREFIX) : undefined;
}

/**
 * Whether the caller may see and create movements of this template: an agent only in its own
 * namespace.
 */
export function mayMove(caller: Caller, templateKey: string): boolean {
  return (
    caller.role !== 'agent' ||
    (caller.namespace !== undefined && isInNamespace(templateKey, caller.namespace))
  );
}

/**
 * Whether the caller may read this template: an agent not what lies in another agent's namespace.
 */
export function mayReadTemplate(caller: Caller, templateKey: string): boolean {
  return (
    caller.role !== 'agent' || !templateKey.startsWith(AGENT_PREFIX) || mayMove(caller, templateKey)
  );
}

/** Who did something, as the timeline shows it. */
export interface Actor {
  readonly type: 'key' | 'system' | 'executor' | 'operator';
  readonly client_id?: string | null;
  readonly key_id?: string | null;
  readonly label?: string;
}

export const SYSTEM_ACTOR: Actor = { type: 'system' };
