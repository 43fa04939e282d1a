/** README and guides: every command that stands there runs as it is printed, in a fresh folder. */
import { freePort } from '../../dev/stack/ports.ts';
import { eventually } from '../support/own-stack.ts';
import { openTerminals, shellBlocks, shownFields, type Terminals } from '../support/guide.ts';

let terminals: Terminals;
let close: () => Promise<void>;
let temporal: number;
beforeAll(async () => {
  temporal = await freePort();
  ({ terminals, close } = openTerminals({
    SVC_TEMPORAL_PORT: String(temporal),
    // A page is read slower than a shell runs it.
    SVC_RATE_LIMIT_ENABLED: 'false',
  }));
});
afterAll(() => close?.(), 60_000);

test('README: its commands are steps of CI', () => {
  const [commands = '', ...others] = shellBlocks('README.md');
  expect(commands).toMatch(/^npm run demo .*\nnpm run demo -- --bridges .*\nnpm test .*$/);
  expect(others).toEqual([]);
});

test('start: a movement that pays, and one that waits for a person', async () => {
  const printed = await terminals.follow(shellBlocks('docs/start.md'));
  expect(printed.match(/"request_state": "COMPLETED"/g)).toHaveLength(2);
  expect(printed).toMatch(/^7 {2}node_submitting {2}withdraw {2}Submitting$/m);
  expect(printed).toMatch(/"withdrawable": "999967.5"/);
  for (const field of shownFields('docs/start.md')) expect(printed).toContain(`"${field}":`);
}, 180_000);

test('fundctl: its page', async () => {
  const printed = await terminals.follow(shellBlocks('docs/fundctl.md'));
  expect(printed).toMatch(/role +admin[\s\S]*COMPLETED[\s\S]*request_completed/);
}, 300_000);

test('the runbook: every way out', async () => {
  const printed = await terminals.follow(shellBlocks('docs/runbook.md'));
  expect(printed).toMatch(/REJECTED[\s\S]*EXECUTOR_DISABLED[\s\S]*COMPLETED[\s\S]*CANCELLED/);
}, 300_000);

test('operations: what needs no name of yours', async () => {
  // What somebody's own settings are is for that place alone.
  const here = shellBlocks('docs/operations.md').filter((block) => !block.includes('config check'));
  const printed = await terminals.follow(here);
  expect(printed).toMatch(/"key_id": ?"desk-2026"/);
}, 120_000);

test('agents: from a key to a movement that waits', async () => {
  const printed = await terminals.follow(shellBlocks('docs/agents.md'));
  expect(printed).toMatch(/"namespace": "agent\/rebalancer"[^]*agent\/dev[^]*auto_promoted/);
  expect(printed).toMatch(/PENDING_APPROVAL/);
}, 180_000);

test('security: the drill', async () => {
  const printed = await terminals.follow(shellBlocks('docs/security.md'));
  expect(printed).toMatch(/"mode": "frozen"[^]*"ok": ?true[^]*"mode": "normal"/);
}, 120_000);

test('the receiver of callbacks hears of a movement', async () => {
  await terminals.follow(shellBlocks('examples/callback-receiver/README.md'));
  // The operator's settings, and a movement that is created and approved.
  const [, who = '', create = '', , approve = ''] = shellBlocks('docs/start.md');
  const called = create.replace(
    '"strategy_id": "first"',
    '"strategy_id": "first", "callback_url": "http://127.0.0.1:8300/"',
  );
  await terminals.follow([who, called, approve]);
  await eventually(async () => (/"request_completed"/.test(terminals.said()) ? true : null), {
    what: () => `the end of the movement in:\n${terminals.said()}`,
  });
  await terminals.close();
}, 180_000);

test('executors: from the example to a movement that it has paid', async () => {
  // What stands in another repository, test/slow/kit-package does.
  await terminals.serve('npm start');
  const here = shellBlocks('docs/executors.md').filter(
    (block) => !/kit:pack|npm install/.test(block),
  );
  const printed = await terminals.follow(here, {
    SVC_TEMPORAL_ADDRESS: `127.0.0.1:${String(temporal)}`,
  });
  expect(printed.match(/^PASSED/gm)).toHaveLength(3);
  // The one that the check has started, with its token.
  expect(printed.match(/^PASSED: /gm)).toHaveLength(1);
  expect(printed).toMatch(/"request_state": "COMPLETED"[\s\S]*\{"effects":1\}/);
}, 300_000);
