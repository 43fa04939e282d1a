/** Change requests in Chromium: what *Needs you* says of those that wait, and of one made alone. */
import type { Locator, Page } from 'playwright-core';
import { secretsKeyPath } from '../../../dev/stack/keys.ts';
import type { ApprovalRule } from '../../../domain/approval/rule.ts';
import { connectDatabase } from '../../../prisma/client.ts';
import { changeApprovers } from '../../../store/approvals.ts';
import { eventually } from '../../support/own-stack.ts';
import { started } from '../../support/started.ts';
import { tool } from '../../support/tool.ts';
import { accessible, PATIENCE, startConsole } from './operators.ts';

const desk = started(() => startConsole());
afterEach(() => desk.afterEach());

const EXECUTOR = '/executors/paper.withdrawal';

function ruleOf(applies_to: ApprovalRule['applies_to'], group: string): ApprovalRule {
  return {
    applies_to,
    when: {},
    require: [{ group, threshold: 1 }],
    initiator_may_approve: false,
    payee_author_may_approve: true,
    template_author_may_approve: true,
    reason_required: false,
  };
}

/**
 * Ada may approve changes of templates, and only bob those of executors. The rule for keys makes
 * `breakGlass` a change that would have to wait.
 */
async function withRules(): Promise<void> {
  const db = connectDatabase({ url: desk.own.stack.databaseUrl, poolSize: 1 });
  await changeApprovers(
    db,
    {
      people: ['ada', 'bob'].map((person) => ({
        ...{ person, name: person },
        identities: [`dashboard:${person}`],
      })),
      groups: [
        { name: 'desk', members: ['ada'] },
        { name: 'others', members: ['bob'] },
      ],
      rules: [
        { name: 'templates', rule: ruleOf('templates', 'desk') },
        { name: 'executors', rule: ruleOf('executors', 'others') },
        { name: 'keys', rule: ruleOf('keys', 'desk') },
      ],
    },
    [],
  );
  await db.$disconnect();
}

/** Issues a key alone, as the owner of the database may in an emergency. */
async function breakGlass(): Promise<void> {
  const { databaseUrl, dataDir } = desk.own.stack;
  const { status, err } = await tool(
    [
      ...['keys', 'issue', '--client-name', 'hal', '--key-id', 'hal', '--role', 'operator'],
      ...['--as', 'ada', '--break-glass', '--reason', 'The desk is away.'],
    ],
    { SVC_DATABASE_URL: databaseUrl, SVC_SECRETS_KEY_FILE: secretsKeyPath(dataDir) },
  );
  if (status !== 0) throw new Error(err);
}

/** Sends a call that waits for approvals; returns the id of its change request. */
async function waits(method: string, path: string, body: object): Promise<string> {
  const { change_request_id } = await desk.own.api.expect(202, method, path, body);
  return String(change_request_id);
}

const region = (page: Page, name: string): Locator =>
  page.getByRole('region', { name, exact: true });
const isTitled = (page: Page, title: string): Promise<true> =>
  eventually(async () => (await page.title()) === title || null, { timeoutMs: PATIENCE });

test('what waits is shown with its link until it ends, and so is what was made alone', async () => {
  await desk.own.api.expect(200, 'PATCH', EXECUTOR, { status: 'disabled', reason: 'A test.' });
  // Enrols ada, which would wait under the rule for keys.
  const page = await desk.pageOf('ada');
  await withRules();
  await page.goto(`${desk.origin}/console/`);
  await page.getByText('Nothing waits for you.').waitFor({ timeout: PATIENCE });
  await isTitled(page, '(0) Needs you · Fund movements');
  const mine = await waits('POST', '/plan-templates', {
    template_key: 'test/waits',
    version: 1,
    name: 'A template that waits',
    nodes: [{ node_key: 'a', node_kind: 'action', action_type: 'noop', has_side_effect: false }],
    completion_policy: { completion_assurance: 'provider_completed' },
  });
  const others = await waits('PATCH', EXECUTOR, { status: 'active', reason: 'A test.' });

  const group = region(page, 'Changes that wait for approvals');
  await group.getByRole('link', { name: others }).waitFor({ timeout: 2 * PATIENCE });
  // The one that ada may approve comes first, though it is older; only that one is counted.
  expect(await group.getByRole('link').allInnerTexts()).toEqual([mine, others]);
  await isTitled(page, '(1) Needs you · Fund movements');
  const rowOf = (id: string): Promise<string> =>
    group.getByRole('row').filter({ hasText: id }).innerText();
  expect(await rowOf(mine)).toMatch(/templates\s+POST .*desk: 1\s+You may approve\./s);
  expect(await rowOf(others)).toMatch(/executors\s+PATCH .*others: 1\s+You may not approve:/s);
  await accessible(page);
  await group.getByRole('link', { name: mine }).click();
  await page.getByRole('heading', { level: 1, name: 'Change request' }).waitFor();
  expect(page.url()).toBe(`${desk.origin}/console/changes/${mine}`);

  await page.goBack();
  await group.waitFor({ timeout: PATIENCE });
  for (const id of [mine, others])
    await desk.own.api.expect(200, 'POST', `/change-requests/${id}/reject`, { reason: 'A test.' });
  await group.waitFor({ state: 'detached', timeout: 2 * PATIENCE });
  await isTitled(page, '(0) Needs you · Fund movements');

  await breakGlass();
  const alone = region(page, 'Made alone');
  await alone
    .getByRole('row')
    .filter({ hasText: 'The desk is away.' })
    .waitFor({ timeout: 2 * PATIENCE });
  expect(await alone.innerText()).toMatch(/keys\s+fundadmin:ada\s+The desk is away\./);
  const says = page.getByText('The glass was broken: 1 change was made alone');
  expect(await says.count()).toBe(1);
  await page.setViewportSize({ width: 320, height: 900 });
  await accessible(page);
  expect(
    await page.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    ),
  ).toBeLessThanOrEqual(0);
  // Every other page says it, too.
  await page.goto(`${desk.origin}/console/approvals`);
  await says.waitFor({ timeout: PATIENCE });
  expect(await says.count()).toBe(1);
}, 180_000);
