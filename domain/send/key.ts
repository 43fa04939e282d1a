/**
 * Returns the key with which a node's executor is called, and its send looked up, in one attempt.
 * It contains nothing of Temporal's, because a workflow reset would change that.
 */
export function sendKey(
  movementId: string,
  { node_key, attempt }: { readonly node_key: string; readonly attempt: number },
): string {
  return `${movementId}:${node_key}:${String(attempt)}`;
}
