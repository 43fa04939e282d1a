/**
 * The commands of a page as a person copies them: its blocks of shell, run in one shell from top to
 * bottom. What serves until it is stopped runs beside it, as in a terminal of its own.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PORT_SETTINGS, ROOT } from '../../dev/stack/ports.ts';

/** A command that goes on until Ctrl-C, and what it says once it serves. */
const SERVERS: readonly { readonly command: RegExp; readonly ready: RegExp }[] = [
  { command: /(^| )npm start$/, ready: /^Stop with Ctrl-C/m },
  { command: /(^| )node dist\/(executor|callback)-\S+ /, ready: /^(listening on|working on) /m },
  { command: /^python3 receive\.py\b/, ready: /^listening on /m },
];
/** What a reader has to fill in, or has elsewhere. */
const NOT_AS_IT_STANDS = /<[a-z][^>]*>|…|\$OWNER_URL|^\s*temporal /;

/** The blocks of one language of a page of the project. */
export function blocksOf(file: string, language: string): readonly string[] {
  return blocksIn(readFileSync(join(ROOT, file), 'utf8'), language);
}

/** The same of a part of a page. */
export function blocksIn(page: string, language: string): readonly string[] {
  const block = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  return [...page.matchAll(block)].map(([, text = '']) => text);
}

/** The blocks of shell of a page, without lines that cannot run as they stand. */
export function shellBlocks(file: string): readonly string[] {
  return blocksOf(file, 'sh').map((block) =>
    block
      .split('\n')
      .filter((line) => !NOT_AS_IT_STANDS.test(line))
      .join('\n')
      .trim(),
  );
}

/** The fields that the answers of a page show: its blocks of JSON, whatever their values. */
export function shownFields(file: string): readonly string[] {
  const blocks = blocksOf(file, 'json').join('');
  return [...new Set([...blocks.matchAll(/"(\w+)": /g)].map(([, name = '']) => name))];
}

/** The tree as it is, also what is not committed, in a folder of its own with any free ports. */
export function openTerminals(env: NodeJS.ProcessEnv = {}): {
  readonly folder: string;
  readonly terminals: Terminals;
  close(): Promise<void>;
} {
  const folder = mkdtempSync(join(tmpdir(), 'guides-'));
  const files = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: ROOT });
  for (const file of files.toString().split('\0').filter(Boolean))
    cpSync(join(ROOT, file), join(folder, file));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const anyPorts = Object.values(PORT_SETTINGS).map(({ setting }) => [setting, '0']);
  const terminals = new Terminals(folder, {
    ...process.env,
    ...Object.fromEntries(anyPorts),
    ...env,
  });
  return {
    folder,
    terminals,
    close: async () => {
      await terminals.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A command of a block that has none beside it but comments, if it serves until it is stopped. */
function serverOf(block: string): { readonly command: string; readonly ready: RegExp } | undefined {
  const [command = '', ...others] = block.split('\n').filter((line) => !/^\s*(#|$)/.test(line));
  const server = SERVERS.find((each) => each.command.test(command));
  return server === undefined || others.length > 0 ? undefined : { ...server, command };
}

/** The terminals of a reader, in the folder of a clone. */
export class Terminals {
  readonly #folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #servers: {
    readonly command: string;
    readonly child: ChildProcess;
    readonly log: string;
  }[] = [];

  constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    this.#env = env;
    mkdirSync(join(folder, '.terminals'));
  }

  /** Runs the blocks; answers what the shell has printed. Throws where a command fails. */
  async follow(blocks: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
    let printed = '';
    let script = '';
    // What one block defines holds in the next, so all between two servers is one run.
    for (const block of blocks) {
      const server = serverOf(block);
      if (server === undefined) {
        script += `${block}\n`;
        continue;
      }
      printed += await this.#run(script, env);
      script = '';
      await this.serve(server.command, server.ready, env);
    }
    return printed + (await this.#run(script, env));
  }

  /** Starts a server and waits until it serves; an earlier stack of the folder is stopped first. */
  async serve(
    command: string,
    ready: RegExp = /^Stop with Ctrl-C/m,
    env: NodeJS.ProcessEnv = {},
  ): Promise<void> {
    const isStack = command.endsWith('npm start');
    if (isStack)
      for (const each of this.#servers.splice(0))
        if (each.command.endsWith('npm start')) await stop(each.child);
        else this.#servers.push(each);
    const file = join(this.#folder, '.terminals', `${String(Date.now())}.log`);
    const log = openSync(file, 'w');
    const child = spawn('bash', ['-ec', command], {
      cwd: this.#folder,
      // A stack with the address of a Temporal server starts none.
      env: isStack ? this.#env : { ...this.#env, ...env },
      detached: true,
      stdio: ['ignore', log, log],
    });
    this.#servers.push({ command, child, log: file });
    for (const end = Date.now() + 120_000; Date.now() < end; await sleep(100)) {
      const said = readFileSync(file, 'utf8');
      if (ready.test(said)) return;
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`${command} ended:\n${said}`);
    }
    throw new Error(`${command} did not serve in time:\n${readFileSync(file, 'utf8')}`);
  }

  /** What the servers have said so far. */
  said(): string {
    return this.#servers.map(({ log }) => readFileSync(log, 'utf8')).join('');
  }

  /** Ends every server. */
  async close(): Promise<void> {
    await Promise.all(this.#servers.splice(0).map(({ child }) => stop(child)));
  }

  async #run(script: string, env: NodeJS.ProcessEnv): Promise<string> {
    const child = spawn('bash', ['-e', '-o', 'pipefail', '-s'], {
      cwd: this.#folder,
      env: { ...this.#env, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let out = '';
    let both = '';
    child.stdout.on('data', (data: Buffer) => {
      out += data.toString();
      both += data.toString();
    });
    child.stderr.on('data', (data: Buffer) => (both += data.toString()));
    child.stdin.end(script);
    const code = await new Promise((resolve) => child.once('close', resolve));
    if (code !== 0) throw new Error(`a command of the page ended with ${String(code)}:\n${both}`);
    return out;
  }
}

/** As Ctrl-C does, for the whole group. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = new Promise((resolve) => child.once('close', resolve));
  process.kill(-child.pid, 'SIGINT');
  await gone;
}
