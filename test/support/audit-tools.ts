/**
 * The audit commands as somebody at a terminal has them, and the database as somebody with all its
 * rights has it.
 */
import pg from 'pg';
import { fundadmin } from '../../tools/command-line.ts';

export interface Run<T> {
  readonly exit: number;
  readonly result: T;
  readonly err: string;
}

/** Runs `fundadmin` in this process; `result` is the JSON it printed, or null. */
export async function admin<T = Record<string, unknown>>(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Run<T>> {
  let out = '';
  let err = '';
  const exit = await fundadmin(args, {
    env,
    out: (text) => (out += text),
    err: (text) => (err += text),
  });
  return { exit, result: (out.startsWith('{') ? JSON.parse(out) : null) as T, err };
}

export interface Verified {
  readonly ok: boolean;
  readonly events: number;
  readonly sealed: number;
  readonly checked: number;
  readonly authenticated: boolean;
  readonly unauthenticated: number;
  readonly head: { readonly position: number; readonly chain_hash: string } | null;
  readonly first_fault: {
    readonly fault: string;
    readonly position?: number;
    readonly event_id?: string;
    readonly message: string;
  } | null;
  readonly faults: readonly { readonly fault: string; readonly position?: number }[];
}

/** Runs statements as a superuser who has switched off what refuses changes. */
export async function tamper(
  databaseUrl: string,
  ...statements: readonly (readonly [string, ...unknown[]])[]
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('SET session_replication_role = replica');
    for (const [text, ...values] of statements) {
      const { rowCount } = await client.query(text, values);
      if (rowCount === 0) throw new Error(`nothing was changed by ${text}`);
    }
  } finally {
    await client.end();
  }
}
