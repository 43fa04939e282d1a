/** docs/api-by-example.md: what it shows in each language runs as it is printed, on one stack. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf, openTerminals, shellBlocks, shownFields } from '../support/guide.ts';

const PAGE = 'docs/api-by-example.md';
const RECEIVER = /^# receive\.py\n/;
// Three programs of one key within a minute; a reader runs one of them.
const opened = openTerminals({ SVC_RATE_LIMIT_WRITE_RPM: '100000' });
afterAll(() => opened.close(), 60_000);

/** The blocks of a language as one program, in the folder of the clone. */
function program(name: string, language: string): void {
  const blocks = blocksOf(PAGE, language).filter((block) => !RECEIVER.test(block));
  writeFileSync(join(opened.folder, name), blocks.join('\n'));
}

test('curl: every command of the page, and a callback that is told and verified', async () => {
  const receiver = blocksOf(PAGE, 'python').find((block) => RECEIVER.test(block)) ?? '';
  writeFileSync(join(opened.folder, 'receive.py'), receiver);
  const printed = await opened.terminals.follow(shellBlocks(PAGE));
  expect(printed).toMatch(/^Idempotent-Replayed: true\r?$/im);
  expect(printed).toMatch(/^ADDRESS_NOT_WHITELISTED$/m);
  expect(printed).toMatch(/^APPROVED\nwindow_amount_exceeded$/m);
  expect(printed).toMatch(/^401$/m);
  expect(printed).toMatch(/"consumed_amount":"40"/);
  expect(opened.terminals.said()).toMatch(/^[\w-]{36} \d+ request_completed$/m);
  for (const field of shownFields(PAGE)) expect(printed).toContain(`"${field}":`);
}, 180_000);

test('Python: the same as one program', async () => {
  program('by_example.py', 'python');
  const printed = await opened.terminals.follow(['PYTHONPATH=docs/clients python3 by_example.py']);
  expect(printed).toMatch(/^\d+ node_submitting withdraw$/m);
  const completed = opened.terminals.said().match(/request_completed$/gm);
  expect(completed).toHaveLength(2);
}, 120_000);
