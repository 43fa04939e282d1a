/** `fundadmin` in this process, as somebody at the shared stack would call it. */
import type { SigningKey } from '../../dev/stack/keys.ts';
import { shared } from './http.ts';

export interface ToolRun {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Runs one command line. */
export async function tool(
  args: readonly string[],
  env: Readonly<Record<string, string>> = shared.toolEnv,
): Promise<ToolRun> {
  // Loaded by those who run one: it is most of the service.
  const { fundadmin } = await import('../../tools/command-line.ts');
  let out = '';
  let err = '';
  const status = await fundadmin(args, {
    env,
    out: (text) => (out += text),
    err: (text) => (err += text),
  });
  return { status, out, err };
}

/** Issues a key and answers what signs with it. */
export async function issueKey(
  ...args: readonly string[]
): Promise<SigningKey & { readonly clientId: string }> {
  const { status, out, err } = await tool(['keys', 'issue', ...args]);
  if (status !== 0) throw new Error(`no key was issued: ${err}`);
  const issued = JSON.parse(out) as {
    readonly key_id: string;
    readonly hmac_secret: string;
    readonly client_id: string;
  };
  return { keyId: issued.key_id, secret: issued.hmac_secret, clientId: issued.client_id };
}
