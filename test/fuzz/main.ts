/**
 * `npm run fuzz`: a stack of its own, some movements in every state, and then thousands of signed
 * requests made from the OpenAPI document; every answer is checked against it. Exit status 0 only
 * if nothing was found.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand, signalCommands } from '../../dev/bootstrap/command.mjs';
import { takeSignals } from '../../dev/stack/foreground.ts';
import { ANY_FREE_PORTS, startStack, type Stack } from '../../dev/stack/stack.ts';
import { fuzzPython } from './environment.ts';
import { readOptions, type FuzzOptions } from './options.ts';
import { seed } from './seed.ts';

// What somebody has set for a service of their own is nothing to this run.
for (const name of Object.keys(process.env)) if (name.startsWith('SVC_')) delete process.env[name];

let stack: Stack | null = null;
const foreground = takeSignals(() => stack?.hurry());
process.exitCode = await main(readOptions(process.argv.slice(2)));
process.exit();

async function main(options: FuzzOptions): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'fuzz-run-'));
  foreground.signal.addEventListener('abort', () => {
    signalCommands('SIGTERM');
  });
  let status = 1;
  try {
    say(`Schema fuzz: at least ${options.cases} signed requests, seed ${options.seed}`);
    const python = await fuzzPython(foreground.signal, say);
    stack = await startStack({
      settings: { dataDir, ports: ANY_FREE_PORTS },
      restart: false,
      perp: true,
      signal: foreground.signal,
      log: say,
      env: {
        SVC_RATE_LIMIT_ENABLED: 'false',
        SVC_CALLBACK_HMAC_SECRET: 'fuzz-run-secret',
        SVC_SWEEP_IDLE_SECONDS: '60',
      },
    });
    status = await fuzz(stack, python, options);
    const down = Object.values(stack.children).filter(({ pid }) => pid === null);
    for (const { name } of down) say(`${name} did not survive the run`);
    if (down.length > 0) status = 1;
  } catch (error) {
    if (foreground.status === null)
      say(`\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  } finally {
    await stack?.stop();
    const keep = (options.keep || status !== 0) && foreground.status === null;
    if (keep) say(`Logs and data: ${dataDir}`);
    else rmSync(dataDir, { recursive: true, force: true });
  }
  return foreground.status ?? status;
}

/**
 * Runs the Python side, which prints what it finds and, as its last line, the summary; answers its
 * exit status.
 */
async function fuzz(running: Stack, python: string, options: FuzzOptions): Promise<number> {
  const { apiUrl, opsUrl, keys, dataDir } = running;
  const known = await seed(running);
  const plan = join(dataDir, 'fuzz.json');
  const { cases, examples, seed: number } = options;
  const text = JSON.stringify({
    api_url: apiUrl,
    document_url: `${opsUrl}/openapi.json`,
    keys,
    known,
    cases,
    examples,
    seed: number,
  });
  writeFileSync(plan, text, { mode: 0o600 });
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
  return runCommand(python, [join(import.meta.dirname, 'run.py'), plan], { cwd: dataDir, env });
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
