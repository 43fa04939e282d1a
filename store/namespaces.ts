/** Rows whose template lies in a namespace. */

/**
 * Prisma hands the text to LIKE as it is, where `_` and `%` of an authority's name would match
 * other names.
 */
export function inNamespace(namespace: string): {
  readonly template_key: { readonly startsWith: string };
} {
  return { template_key: { startsWith: `${namespace.replace(/[\\%_]/g, '\\$&')}/` } };
}

/** The authority that a namespace is of; null for none. */
export function agentOf(namespace: string | undefined): string | null {
  return namespace === undefined ? null : namespace.replace(/^agent\//, '');
}
