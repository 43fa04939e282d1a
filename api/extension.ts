/**
 * How an edition or a third party adds to the API: routes of its own, roles for routes that have
 * none, and who decides about automatic approval. The role map is complete before the first
 * request; what is still without roles then is closed.
 */
import type { Role } from '../domain/roles.ts';
import type { AutoApproveHook } from './auto-approve/hook.ts';
import type { Route } from './http/route.ts';

export interface ApiExtension {
  readonly name: string;
  readonly routes?: readonly Route[];
  /**
   * Route ids to roles. A route that has roles keeps them: an extension opens nothing that is
   * mapped.
   */
  readonly roles?: Readonly<Record<string, readonly Role[]>>;
  /** Decides about automatic approval in place of the daily caps of templates. */
  readonly autoApprove?: AutoApproveHook;
}

/**
 * The hook that an extension registers, or null. Throws when several do: none of them would know of
 * the others' limits.
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
 * The whole table. Throws when an extension names a route that there is not, or one that has roles
 * already.
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
        throw new Error(`the extension ${name} gives roles to ${id}, which is no route`);
      if (route.roles.length > 0 || added.has(id))
        throw new Error(`the extension ${name} gives roles to ${id}, which has its own`);
      added.set(id, mapped);
    }
  }
  return table.map((route) => ({ ...route, roles: added.get(route.id) ?? route.roles }));
}
