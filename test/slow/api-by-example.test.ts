/** docs/api-by-example.md: what it shows in each language runs as it is printed, on one stack. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../dev/stack/ports.ts';
import { eventually } from '../support/own-stack.ts';
import { blocksOf, openTerminals, shellBlocks, shownFields } from '../support/guide.ts';

const PAGE = 'docs/api-by-example.md';
const CALLBACK_SCRIPT = /^# receive\.py\n/;
// Four programs of one key within a minute; a reader runs one of them.
const opened = openTerminals({ SVC_RATE_LIMIT_WRITE_RPM: '100000' });
afterAll(() => opened.close(), 60_000);

/** Blocks as a file in the folder of the clone, where the page wants them. */
function save(name: string, blocks: readonly string[]): void {
  writeFileSync(join(opened.folder, name), blocks.join('\n'));
}

beforeAll(() => {
  const python = blocksOf(PAGE, 'python');
  save(
    'receive.py',
    python.filter((block) => CALLBACK_SCRIPT.test(block)),
  );
  save(
    'by_example.py',
    python.filter((block) => !CALLBACK_SCRIPT.test(block)),
  );
  save('by_example.ts', blocksOf(PAGE, 'ts'));
});

test('TypeScript: the program fits the types of the client', () => {
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions'];
  const target = ['--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
  execFileSync(
    process.execPath,
    [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, ...target, 'by_example.ts'],
    { cwd: opened.folder, stdio: 'pipe', encoding: 'utf8' },
  );
}, 120_000);

test('curl, fundctl, Python and TypeScript do what the page says, and each is called back', async () => {
  const printed = await opened.terminals.follow(shellBlocks(PAGE));
  expect(printed).toMatch(/Idempotent-Replayed: true\r?$/im);
  expect(printed).toMatch(/APPROVED\nwindow_amount_exceeded$/m);
  expect(printed).toMatch(/^401$/m);
  expect(printed).toMatch(/"consumed_amount":"40"/);
  expect(printed.match(/^ADDRESS_NOT_WHITELISTED$/gm)).toHaveLength(2);
  // What each program leaves of its budget.
  expect(printed).toContain("'available_amount': '20'");
  expect(printed).toMatch(/APPROVED window_amount_exceeded\n[^]*available_amount: '20'/);
  const heard = (): number =>
    opened.terminals.said().match(/^[\w-]{36} \d+ request_completed$/gm)?.length ?? 0;
  await eventually(() => Promise.resolve(heard() === 4 ? true : null), {
    what: () => `the ends of four movements in:\n${opened.terminals.said()}`,
  });
  for (const field of shownFields(PAGE)) expect(printed).toContain(`"${field}":`);
}, 300_000);
