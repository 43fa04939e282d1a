/** Filters rows by the namespace of their template. */

/**
 * Returns a Prisma filter for a namespace. Prisma passes the text to LIKE unchanged, so `_` and `%`
 * are escaped: they would match other names.
 */
export function inNamespace(namespace: string): {
  readonly template_key: { readonly startsWith: string };
} {
  return { template_key: { startsWith: `${namespace.replace(/[\\%_]/g, '\\$&')}/` } };
}

/** Returns the agent authority of a namespace; null for no namespace. */
export function agentOf(namespace: string | undefined): string | null {
  return namespace === undefined ? null : namespace.replace(/^agent\//, '');
}
