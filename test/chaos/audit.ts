/** What `fundadmin audit verify` says of a database at the end of a run. */
import type { Stack } from '../../dev/stack/stack.ts';
import { fundadmin } from '../../tools/command-line.ts';

/** Returns why the audit trail of this database does not verify; nothing when it does. */
export async function auditFaults(stack: Stack, databaseUrl: string): Promise<readonly string[]> {
  let printed = '';
  const print = (text: string): void => void (printed += text);
  const env = { ...stack.env, SVC_DATABASE_URL: databaseUrl };
  const status = await fundadmin(['audit', 'verify'], { env, out: print, err: print });
  return status === 0 ? [] : [`audit verify ended with ${String(status)}: ${printed}`];
}
