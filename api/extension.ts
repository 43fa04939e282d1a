/**
 * How an edition or a third party extends the API: with routes, with roles for routes that have
 * none, and with a hook for automatic approval. The role map is complete before the first request;
 * a route that still has no roles is closed.
 */
import type { Role } from '../domain/roles.ts';
import type { AutoApproveHook } from './auto-approve/hook.ts';
import type { Route } from './http/route.ts';

export interface ApiExtension {
  readonly name: string;
  readonly routes?: readonly Route[];
  /**
   * Route ids to roles. Only for routes without roles: an extension cannot open a route that
   * already has roles.
   */
  readonly roles?: Readonly<Record<string, readonly Role[]>>;
  /** Decides about automatic approval instead of the daily caps of templates. */
  readonly autoApprove?: AutoApproveHook;
}

/**
 * Returns the hook that an extension registers, or null. Throws when several extensions register
 * one: none of them would know the others' limits.
 */
export function autoApproveOf(extensions: readonly ApiExtension[]): AutoApproveHook | null {
  const [first, second] = extensions.filter((extension) => extension.autoApprove !== undefined);
  if (second !== undefined)
    throw new Error(
      `the extensions ${first?.name ?? ''} and ${second.name} both decide about automatic approval`,
    );
  return first?.autoApprove ?? null;
}

/**
 * Returns the whole route table. Throws when an extension gives roles to an unknown route, or to a
 * route that already has roles.
 */
export function withExtensions(
  base: readonly Route[],
  extensions: readonly ApiExtension[],
): readonly Route[] {
  const added = new Map<string, readonly Role[]>();
  const table = [...base, ...extensions.flatMap((extension) => extension.routes ?? [])];
  for (const { name, roles = {} } of extensions) {
    for (const [id, mapped] of Object.entries(roles)) {
      const route = table.find((each) => each.id === id);
      if (route === undefined)
        throw new Error(`the extension ${name} sets roles for ${id}, but no route has this id`);
      if (route.roles.length > 0 || added.has(id))
        throw new Error(`the extension ${name} sets roles for ${id}, which has its own roles`);
      added.set(id, mapped);
    }
  }
  return table.map((route) => ({ ...route, roles: added.get(route.id) ?? route.roles }));
}
