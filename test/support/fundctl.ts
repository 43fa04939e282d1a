/** `fundctl` as somebody would call it: in this process, or as the built program. */
import { spawn } from 'node:child_process';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { schemaOf } from '../../clients/command-line/schemas.ts';
import { leavesOf } from '../../clients/command-line/self.ts';
import { fundctl } from '../../clients/fundctl/program.ts';
import { TREE } from '../../clients/fundctl/tree.ts';
import type { ClientKey } from '../../clients/http/index.ts';
import { built } from '../../dev/bootstrap/programs.mjs';

export interface Ran {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}
export type Env = Readonly<Record<string, string>>;

/** The environment of spec 5.4, and no file of profiles. */
export function clientEnv(apiUrl: string, key: ClientKey): Env {
  return {
    SVC_API_URL: apiUrl,
    SVC_KEY_ID: key.keyId,
    SVC_HMAC_SECRET: String(key.secret),
    SVC_CLIENT_CONFIG: '/nonexistent/config.json',
  };
}

/** Runs one command line in this process, with pipes for streams. */
export async function runFundctl(env: Env, args: readonly string[], stdin = ''): Promise<Ran> {
  let out = '';
  let err = '';
  const status = await fundctl(args, {
    env,
    out: (text) => (out += text),
    err: (text) => (err += text),
    terminal: { in: false, out: false, err: false },
    read: () => Promise.resolve(stdin),
    signal: new AbortController().signal,
  });
  return { status, out, err };
}

/** Runs the built program with pipes; `stdin` is closed at once. */
export function spawnFundctl(env: Env, args: readonly string[], stdin = ''): Promise<Ran> {
  const child = spawn(process.execPath, [built('fundctl'), ...args], {
    env: { PATH: process.env.PATH, HOME: '/nonexistent', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  child.stdin.end(stdin);
  return new Promise((resolve) =>
    child.once('close', (status) => resolve({ status: status ?? -1, out, err })),
  );
}

export const LEAVES = leavesOf(TREE);
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });

/** Commands that need what only a stack of its own can be made to do: test/slow has them. */
export const ELSEWHERE: readonly string[] = [
  'movements resolve',
  'movements cancel-transaction',
  'transfers resolve',
  'signers rotate',
  'signers retire',
  'signers enable',
  'signers disable',
  'signers pin',
  'executors enable',
  'executors disable',
  'perps set-master',
  'perps bind',
  'perps show',
  'perps add-agent',
  'perps agents',
  'perps pause',
  'perps unpause',
  'perps emergency',
  'perps top-up',
  'cutover set',
  'callbacks redeliver',
  'smoke',
];

/** Asks commands for JSON, and holds each answer against the command's own schema. */
export class JsonCommands {
  readonly #env: Env;
  /** The commands that were run. */
  readonly covered = new Set<string>();

  constructor(env: Env) {
    this.#env = env;
  }

  /** Runs `path` with more words; fails unless it ends with `status` and keeps its schema. */
  async run<T = Readonly<Record<string, unknown>>>(
    path: string,
    args: readonly string[] = [],
    options: { readonly status?: number; readonly stdin?: string; readonly env?: Env } = {},
  ): Promise<T> {
    const { status = 0, stdin = '', env = {} } = options;
    const leaf = LEAVES.find((each) => each.path === path)?.leaf;
    if (leaf === undefined) throw new Error(`there is no command ${path}`);
    const words = [...path.split(' '), ...args, '--output', 'json'];
    const ran = await runFundctl({ ...this.#env, ...env }, words, stdin);
    if (ran.status !== status)
      throw new Error(`fundctl ${words.join(' ')} ended with ${String(ran.status)}: ${ran.err}`);
    this.covered.add(path);
    const schema = await schemaOf(leaf.answer);
    if (schema === null) return ran.out as T;
    const lines = leaf.answer !== null && leaf.answer.lines === true;
    const values = (lines ? ran.out.trim().split('\n') : [ran.out]).map(
      (text) => JSON.parse(text) as unknown,
    );
    const validate = ajv.compile(schema);
    for (const value of values)
      if (!validate(value))
        throw new Error(
          `fundctl ${words.join(' ')} prints what its schema forbids: ${ajv.errorsText(validate.errors)}`,
        );
    return values.at(-1) as T;
  }
}
