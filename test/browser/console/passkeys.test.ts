/**
 * Passkeys in a browser with an authenticator of its own: made, confirmed, and used to approve; and
 * what the page does not let a person sign.
 */
import { createHash } from 'node:crypto';
import type { CDPSession, Locator, Page } from 'playwright-core';
import { secretsKeyPath } from '../../../dev/stack/keys.ts';
import type { ApprovalRule } from '../../../domain/approval/rule.ts';
import { connectDatabase } from '../../../prisma/client.ts';
import { changeApprovers } from '../../../store/approvals.ts';
import { eventually, WITHDRAW_TO_TREASURY, type Created } from '../../support/own-stack.ts';
import { started } from '../../support/started.ts';
import { tool } from '../../support/tool.ts';
import { accessible, PATIENCE, startConsole } from './operators.ts';

const desk = started(() => startConsole());
afterEach(() => desk.afterEach());

const button = (page: Page | Locator, name: string): Locator =>
  page.getByRole('button', { name, exact: true });

const fundadmin = async (...args: readonly string[]): Promise<unknown> => {
  const { databaseUrl, dataDir } = desk.own.stack;
  const { status, out, err } = await tool(args, {
    SVC_DATABASE_URL: databaseUrl,
    SVC_SECRETS_KEY_FILE: secretsKeyPath(dataDir),
  });
  if (status !== 0) throw new Error(err);
  return JSON.parse(out) as unknown;
};

const RULE: ApprovalRule = {
  applies_to: 'movement',
  when: { template_keys: [WITHDRAW_TO_TREASURY] },
  require: [{ group: 'desk', threshold: 2 }],
  initiator_may_approve: false,
  payee_author_may_approve: true,
  template_author_may_approve: true,
  reason_required: false,
  evidence: 'passkey',
};

/** People, their group and the rule, as the owner of the tables writes them. */
async function withRule(): Promise<void> {
  const db = connectDatabase({ url: desk.own.stack.databaseUrl, poolSize: 1 });
  await changeApprovers(
    db,
    {
      people: ['ada', 'bob'].map((person) => ({
        ...{ person, name: person },
        identities: [`dashboard:${person}`],
      })),
      groups: [{ name: 'desk', members: ['ada', 'bob'] }],
      rules: [{ name: 'two', rule: RULE }],
    },
    [],
  );
  await db.$disconnect();
}

interface Challenge {
  readonly statement: string;
  readonly challenge: string;
}
/** The SHA-256 of some other text. */
const OTHER = createHash('sha256').update('another').digest('base64url');

interface Authenticator {
  readonly page: Page;
  readonly cdp: CDPSession;
  readonly id: string;
}

/** A page of the operator with an authenticator that verifies who touches it. */
async function withAuthenticator(operator: string): Promise<Authenticator> {
  const page = await desk.pageOf(operator);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId: id } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...({ protocol: 'ctap2', transport: 'internal' } as const),
      ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
      automaticPresenceSimulation: true,
    },
  });
  return { page, cdp, id };
}

/** Makes a passkey on the page, and lets it count by the fingerprint that the page shows. */
async function enrolled(person: string, { page }: Authenticator): Promise<void> {
  // What the page shows is made of the key itself, whatever the service says.
  await page.route('**/dashboard/api/passkeys', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    const answer = await route.fetch();
    const body = (await answer.json()) as object;
    await route.fulfill({
      response: answer,
      json: { ...body, fingerprint: 'AAAA-AAAA-AAAA-AAAA' },
    });
  });
  await page.goto(`${desk.origin}/console/passkeys`);
  await button(page, 'Make a passkey…').click({ timeout: PATIENCE });
  const sheet = page.getByRole('dialog', { name: 'Make a passkey?' });
  await button(sheet, 'Sign and send').click({ timeout: PATIENCE });
  await sheet.getByText(`--person ${person}`).waitFor({ timeout: PATIENCE });
  await accessible(page);
  const fingerprint = await sheet.locator('.fingerprint').innerText();
  await fundadmin(
    'passkeys',
    'confirm',
    '--person',
    person,
    '--fingerprint',
    fingerprint,
    '--as',
    'bob',
  );
}

/** Opens the movement's page and the sheet of its approval. */
async function sheetOf(page: Page, { movement_id }: Created): Promise<Locator> {
  await page.goto(`${desk.origin}/console/movements/${movement_id}`);
  await button(page, 'Approve').click({ timeout: PATIENCE });
  const sheet = page.getByRole('dialog', { name: 'Approve?' });
  await sheet.getByText('A rule requires your passkey').waitFor({ timeout: PATIENCE });
  return sheet;
}

const approvalsOf = ({ movement_id }: Created) =>
  desk.writes.filter(({ path }) => path.endsWith(`/movements/${movement_id}/approve`));

test('passkeys are made, confirmed and approve; nothing else is signed', async () => {
  const [ada, bob] = [await withAuthenticator('ada'), await withAuthenticator('bob')];
  await withRule();
  await enrolled('ada', ada);
  await enrolled('bob', bob);
  const made = await desk.own.api.create(WITHDRAW_TO_TREASURY, { amount: '12.5' });

  // A challenge for anything else: the page refuses before a touch.
  const sheet = await sheetOf(ada.page, made);
  const instead = (from: string, to: string) => (body: Challenge) => ({
    ...body,
    statement: body.statement.replace(from, to),
  });
  const another = made.movement_id.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  for (const [lie, says] of [
    [instead(made.compiled_plan_hash, 'f'.repeat(64)), 'it names another hash'],
    [instead(made.movement_id, another), 'it is about something else'],
    [instead('\nmovement\n', '\nchange_request\n'), 'it is about something else'],
    [instead('\napprove\n', '\nreject\n'), 'it is another decision'],
    [instead('svc-approval/1', 'svc-approval/2'), 'it has another form'],
    [instead(/\d{4}-\d\d-/.exec(new Date().toISOString())?.[0] ?? '', '2020-01-'), 'its time is'],
    [(body: Challenge) => ({ ...body, challenge: OTHER }), 'its challenge is of another text'],
  ] as const) {
    let lied = false;
    await ada.page.route('**/challenge', async (route) => {
      const answer = await route.fetch();
      // A busy service takes no more at once.
      if (answer.status() !== 200) return route.fulfill({ response: answer });
      lied = true;
      await route.fulfill({ response: answer, json: lie((await answer.json()) as Challenge) });
    });
    const send = button(sheet, 'Sign and send');
    const text = sheet.getByText(`something else to sign than this approval: ${says}`);
    await eventually(
      async () => {
        if (lied && (await text.isVisible())) return true;
        if (!lied && (await send.getAttribute('aria-disabled')) === 'false') await send.click();
        return null;
      },
      { timeoutMs: PATIENCE },
    );
    await ada.page.unroute('**/challenge');
  }
  await accessible(ada.page);

  // An authenticator that does not know who touches it.
  await ada.cdp.send('WebAuthn.setUserVerified', {
    authenticatorId: ada.id,
    isUserVerified: false,
  });
  await button(sheet, 'Sign and send').click();
  await sheet.getByText(/No passkey answered/).waitFor({ timeout: PATIENCE });
  expect(approvalsOf(made)).toEqual([]);

  await ada.cdp.send('WebAuthn.setUserVerified', { authenticatorId: ada.id, isUserVerified: true });
  await button(sheet, 'Sign and send').click();
  await sheet.getByText('The service has taken it.').waitFor({ timeout: PATIENCE });
  const bobs = await sheetOf(bob.page, made);
  await bob.page.getByText('with a passkey').first().waitFor({ timeout: PATIENCE });
  await button(bobs, 'Sign and send').click();
  await bobs.getByText('The service has taken it.').waitFor({ timeout: PATIENCE });
  expect(approvalsOf(made).map(({ status, signedBy }) => [status, signedBy])).toEqual([
    [200, 'ada'],
    [200, 'bob'],
  ]);
  await desk.own.api.reaches(made.movement_id, 'COMPLETED');
  // Anybody can verify both later, without the service.
  const { all, ok } = (await fundadmin('audit', 'decisions')) as {
    readonly ok: boolean;
    readonly all: readonly { readonly person: string; readonly proves: string }[];
  };
  expect([ok, ...all.map(({ person, proves }) => `${person} ${proves}`).sort()]).toEqual([
    true,
    'ada passkey',
    'bob passkey',
  ]);
}, 240_000);
