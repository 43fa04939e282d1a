/** README and guides: every command that stands there runs as it is printed, in a fresh folder. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, ROOT } from '../../dev/stack/ports.ts';
import { eventually } from '../support/own-stack.ts';
import { shellBlocks, Terminals } from '../support/guide.ts';

const ANY_PORTS = ['PORT', 'OPS_PORT', 'POSTGRES_PORT', 'TEMPORAL_UI_PORT', 'CHAIN_PORT'];
let folder: string;
let terminals: Terminals;
let temporal: number;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'guides-'));
  // The tree as it is, also what is not committed yet.
  const files = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: ROOT });
  for (const file of files.toString().split('\0').filter(Boolean))
    cpSync(join(ROOT, file), join(folder, file));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  temporal = await freePort();
  terminals = new Terminals(folder, {
    ...process.env,
    ...Object.fromEntries([...ANY_PORTS, 'PAPER_VENUE_PORT'].map((name) => [`SVC_${name}`, '0'])),
    SVC_TEMPORAL_PORT: String(temporal),
    // A page is read slower than a shell runs it.
    SVC_RATE_LIMIT_ENABLED: 'false',
  });
}, 60_000);
afterAll(async () => {
  await terminals?.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const page = (file: string): readonly string[] =>
  shellBlocks(readFileSync(join(ROOT, file), 'utf8'));

test('README: the first movement', async () => {
  const [commands = '', first = '', ...others] = page('README.md');
  // All of the first block are steps of CI.
  expect(commands).toMatch(/^npm run demo .*\nnpm run demo -- --bridges .*\nnpm test .*$/);
  expect(others).toEqual([]);
  await terminals.serve('npm start');
  const printed = await terminals.follow([first]);
  expect(printed).toMatch(/"outflow"[\s\S]*"amount": "12.5"[\s\S]*"manual_gate"/);
  expect(printed).toContain('request_resumed');
}, 180_000);

test('fundctl: its page', async () => {
  const printed = await terminals.follow(page('docs/fundctl.md'));
  expect(printed).toMatch(/role +admin[\s\S]*COMPLETED[\s\S]*request_completed/);
}, 300_000);

test('the runbook: every way out', async () => {
  const printed = await terminals.follow(page('docs/runbook.md'));
  expect(printed).toMatch(/REJECTED[\s\S]*EXECUTOR_DISABLED[\s\S]*COMPLETED[\s\S]*CANCELLED/);
}, 300_000);

test('operations: what needs no name of yours', async () => {
  // What somebody's own settings are is for that place alone.
  const here = page('docs/operations.md').filter((block) => !block.includes('config check'));
  const printed = await terminals.follow(here);
  expect(printed).toMatch(/"key_id": ?"desk-2026"/);
}, 120_000);

test('the receiver of callbacks hears of a movement', async () => {
  await terminals.follow(page('examples/callback-receiver/README.md'));
  const first = page('README.md')[1]?.replace(
    '"strategy_id": "first"',
    '"strategy_id": "first", "callback_url": "http://127.0.0.1:8300/"',
  );
  await terminals.follow([first ?? '']);
  await eventually(async () => (/"request_completed"/.test(terminals.said()) ? true : null), {
    what: () => `the end of the movement in:\n${terminals.said()}`,
  });
  await terminals.close();
}, 180_000);

test('executors: from the example to a movement that it has paid', async () => {
  // What stands in another repository, test/slow/kit-package does.
  await terminals.serve('npm start');
  const here = page('docs/executors.md').filter((block) => !/kit:pack|npm install/.test(block));
  const printed = await terminals.follow(here, {
    SVC_TEMPORAL_ADDRESS: `127.0.0.1:${String(temporal)}`,
  });
  expect(printed.match(/^PASSED/gm)).toHaveLength(3);
  // The one that the check has started, with its token.
  expect(printed.match(/^PASSED: /gm)).toHaveLength(1);
  expect(printed).toMatch(/"request_state": "COMPLETED"[\s\S]*\{"effects":1\}/);
}, 300_000);
