/**
 * The key under which a node's executor is called, and its send looked up, in one attempt: never
 * built from anything of Temporal's, which a reset would renew.
 */
export function sendKey(
  movementId: string,
  { node_key, attempt }: { readonly node_key: string; readonly attempt: number },
): string {
  return `${movementId}:${node_key}:${String(attempt)}`;
}
