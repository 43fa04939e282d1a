/** Who may call what. A key has exactly one role. */
export const ROLES = ['admin', 'operator', 'agent'] as const;
export type Role = (typeof ROLES)[number];

export const ALL_ROLES: readonly Role[] = ROLES;
export const OPS_ROLES: readonly Role[] = ['admin', 'operator'];
export const ADMIN_ROLES: readonly Role[] = ['admin'];
export const AGENT_ROLES: readonly Role[] = ['agent'];

/** The authenticated caller; with authentication switched off, an admin without ids. */
export interface Caller {
  readonly client_id: string | null;
  readonly key_id: string | null;
  readonly role: Role;
  readonly namespace?: string;
}

/** Who did something, as the timeline shows it. */
export interface Actor {
  readonly type: 'key' | 'system' | 'executor' | 'operator';
  readonly client_id?: string | null;
  readonly key_id?: string | null;
  readonly label?: string;
}

export const SYSTEM_ACTOR: Actor = { type: 'system' };
