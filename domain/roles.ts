/** Who may call what. A key has exactly one role. */
export const ROLES = ['admin', 'operator', 'agent'] as const;
export type Role = (typeof ROLES)[number];

export const ALL_ROLES: readonly Role[] = ROLES;
export const OPS_ROLES: readonly Role[] = ['admin', 'operator'];
export const ADMIN_ROLES: readonly Role[] = ['admin'];
export const AGENT_ROLES: readonly Role[] = ['agent'];
/** Who retires versions of templates; an agent in its namespace. */
export const RETIRE_ROLES: readonly Role[] = ['admin', 'agent'];

/** The authenticated caller; with authentication switched off, an admin without ids. */
export interface Caller {
  readonly client_id: string | null;
  readonly key_id: string | null;
  readonly role: Role;
  /** Of an agent only: `agent/<authority_key>`. */
  readonly namespace?: string;
}

/** Every agent namespace begins with this. */
const AGENT_PREFIX = 'agent/';

/** The namespace of an agent authority. */
export function agentNamespace(authorityKey: string): string {
  return AGENT_PREFIX + authorityKey;
}

/** Whether an agent makes the versions of this template key, as many as it likes. */
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
  // A bound agent always has one; without it nothing may be seen.
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
