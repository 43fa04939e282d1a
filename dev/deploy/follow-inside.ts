/**
 * Runs inside the namespaces of `npm run deploy:follow`: starts the surroundings, then follows the
 * page.
 */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { tail } from '../bootstrap/command.mjs';
import { report, startStep } from '../bootstrap/progress.mjs';
import { Supervisor } from '../stack/supervise/supervisor.ts';
import { sectionsOf } from './page.ts';
import { ask, openNetwork, surround, type Handover, type Surroundings } from './surroundings.ts';
import { timing } from './timed.ts';

const CONFIG = '/etc/fund';
/** Id of the user that `useradd` created in the base. */
const USER = 1000;
/**
 * Stops API and worker as an orchestrator does; each process must end, and the proxy must notice.
 */
const STOP = `
for name in api-1 worker-1; do kill -TERM "$(cat "$FUND_CONFIG/$name.pid")"; done
for name in api-1 worker-1; do
  while kill -0 "$(cat "$FUND_CONFIG/$name.pid")" 2> "$FUND_CONFIG/gone"; do sleep 0.2; done
done
`;

const handover = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Handover;
const seconds: Record<string, number> = {};
const supervisor = new Supervisor({ dataDir: handover.work, restart: false, log: () => undefined });

try {
  await openNetwork(handover);
  const around = await surround(handover, supervisor, timing(seconds));
  await follow(around);
  const evidence = await lookAround(around.adminUrl);
  writeFileSync(join(handover.work, 'done.json'), JSON.stringify({ ...evidence, seconds }));
} catch (error) {
  report(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
await supervisor.stopAll();
process.exit();

/**
 * Runs the page's sections, then checks what the page promises about two processes of each role.
 */
async function follow(around: Surroundings): Promise<void> {
  const sections = sectionsOf('docs/deploy.md').map(({ title, blocks }) => ({
    title,
    script: blocks.filter((block) => !block.includes('npm run build')).join('\n'),
  }));
  const first = sections.at(-1)?.script ?? '';
  const again = first.slice(first.indexOf('ID='));
  const parts = [
    ...sections,
    { title: 'a movement without api-1 and worker-1', script: STOP + again },
  ];
  const script = parts.map(({ title, script }) => `echo '@@ ${title}'\n${script}`).join('\n');
  const printed = await inRoot(script, environment(around));
  const completed = printed.match(/COMPLETED/g)?.length ?? 0;
  if (completed < 2) throw new Error(`the movements did not complete:\n${printed}`);
}

/** Copies the TLS files into place; returns the environment that the page's commands expect. */
function environment({ password, client, paperUrl }: Surroundings): Record<string, string> {
  const [config, tls] = [join(handover.root, CONFIG), join(handover.root, CONFIG, 'tls')];
  mkdirSync(tls, { recursive: true });
  const put = (name: string, from: string): void => {
    copyFileSync(from, join(tls, name));
    chmodSync(join(tls, name), 0o400);
    chownSync(join(tls, name), USER, USER);
  };
  put('ca.pem', client.ca);
  put('temporal.pem', client.cert);
  put('temporal.key', client.key);
  chownSync(config, USER, USER);
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin',
    HOME: '/home/fund',
    LANG: 'C.UTF-8',
    FUND_APP: handover.app,
    FUND_CONFIG: CONFIG,
    FUND_SECRETS: `${CONFIG}/secrets`,
    FUND_TLS: `${CONFIG}/tls`,
    PGHOST: 'postgres',
    PGPORT: '5432',
    PGUSER: 'postgres',
    PGPASSWORD: password,
    PGSSLMODE: 'verify-full',
    PGSSLROOTCERT: `${CONFIG}/tls/ca.pem`,
    DATABASE_TLS: `?sslmode=verify-full&sslrootcert=${CONFIG}/tls/ca.pem`,
    TEMPORAL: 'temporal:7233',
    PAPER_URL: paperUrl,
  };
}

/** Runs a script in the empty root, as a user without rights; returns its output. */
async function inRoot(script: string, env: Record<string, string>): Promise<string> {
  const user = `${String(USER)}:${String(USER)}`;
  const shell = ['bash', '-e', '-o', 'pipefail', '-s'];
  const child = spawn('chroot', [`--userspec=${user}`, handover.root, ...shell], {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let printed = '';
  let title = '';
  let since = performance.now();
  let step: ReturnType<typeof startStep> | undefined;
  const turn = (next: string): void => {
    step?.done();
    if (title !== '') seconds[title] = (performance.now() - since) / 1_000;
    [title, since] = [next, performance.now()];
    step = next === '' ? undefined : startStep(next);
  };
  child.stdout.on('data', (data: Buffer) => {
    printed += data.toString();
    for (const [, next = ''] of data.toString().matchAll(/^@@ (.*)$/gm)) turn(next);
  });
  child.stderr.on('data', (data: Buffer) => (printed += data.toString()));
  child.stdin.end(script);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) {
    step?.fail();
    const logs = ['api-1', 'worker-1'].map(
      (name) => `${name}:\n${tail(join(handover.root, CONFIG, `${name}.log`))}`,
    );
    throw new Error([`status ${String(code)}; printed:`, printed, ...logs].join('\n'));
  }
  turn('');
  return printed;
}

/** Checks that every connection used TLS, and that Temporal keeps its runs in Postgres. */
async function lookAround(adminUrl: string) {
  const connections = await ask(
    adminUrl,
    `SELECT datname, usename, bool_and(ssl)::text AS ssl FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
      WHERE usename IN ('fund_service', 'temporal') GROUP BY 1, 2 ORDER BY 1, 2`,
  );
  const [ours, ...others] = connections.filter(({ usename }) => usename === 'fund_service');
  if (ours === undefined || others.length > 0 || connections.some(({ ssl }) => ssl !== 'true'))
    throw new Error(`connections without TLS: ${JSON.stringify(connections)}`);
  const [runs] = await ask(
    adminUrl.replace(/[^/]*$/, 'temporal_visibility'),
    `SELECT count(*)::text AS count FROM executions_visibility WHERE workflow_type_name = 'movementWorkflow'`,
  );
  if (runs?.['count'] !== '2')
    throw new Error(`Temporal keeps ${runs?.['count'] ?? 'no'} runs in Postgres, not 2`);
  return { connections };
}
