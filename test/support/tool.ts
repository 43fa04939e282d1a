/** `fundadmin` in this process, as somebody at the shared stack would call it. */
import type { SigningKey } from '../../dev/stack/keys.ts';
import { shared } from './http.ts';
import { TOOL_PERSON } from './shared-stack-facts.ts';

export interface ToolRun {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Runs one command line; at the shared stack as {@link TOOL_PERSON}, unless it says who acts. */
export async function tool(
  args: readonly string[],
  env: Readonly<Record<string, string>> = shared.toolEnv,
): Promise<ToolRun> {
  // Loaded by those who run one: it is most of the service.
  const { fundadmin } = await import('../../tools/command-line.ts');
  let out = '';
  let err = '';
  const isShared = env['SVC_DATABASE_URL'] === shared.databaseUrl;
  const status = await fundadmin(isShared ? await withActor(args) : args, {
    env,
    out: (text) => (out += text),
    err: (text) => (err += text),
  });
  return { status, out, err };
}

/** Adds --as to a command that must name who acts once a rule is in force. */
async function withActor(args: readonly string[]): Promise<readonly string[]> {
  const [{ fundadminProgram }, { leavesOf, mustNameWho }] = await Promise.all([
    import('../../tools/command-line.ts'),
    import('../../tools/command.ts'),
  ]);
  const silent = (): void => undefined;
  const leaves = leavesOf(fundadminProgram({ env: {}, out: silent, err: silent }));
  const isWriter = [...leaves].some(
    ([name, leaf]) => mustNameWho(leaf) && `${args.join(' ')} `.startsWith(`${name} `),
  );
  return isWriter && !args.includes('--as') ? [...args, '--as', TOOL_PERSON] : args;
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
