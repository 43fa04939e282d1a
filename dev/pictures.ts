/**
 * `npm run docs:pictures`: takes the documentation's pictures again, on a temporary stack with some
 * movements in different states, in this machine's Chromium.
 */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { SEARCH_ATTRIBUTES } from '../domain/messages.ts';
import { findChromium } from './bootstrap/chromium.mjs';
import { openBrowser } from './browser.ts';
import type { Movement, MovementState, ResultOf } from '../clients/http/index.ts';
import { loadStarterTemplates, operatorOf } from './demo-api.ts';
import { takeSignals } from './stack/foreground.ts';
import { ANY_FREE_PORTS, ROOT } from './stack/ports.ts';
import { startStack, type Stack } from './stack/stack.ts';

const FOLDER = join(ROOT, 'docs', 'pictures');
const VIEWPORT = { width: 1200, height: 800 };
/** Maximum size of a picture, since pictures are kept in git. */
const MOST_BYTES = 200_000;
const PATIENCE_MS = 60_000;

let stack: Stack | null = null;
const foreground = takeSignals(() => stack?.hurry());
process.exitCode = await main();
process.exit();

async function main(): Promise<number> {
  const dataDir = mkdtempSync(join(tmpdir(), 'pictures-'));
  let browser: BrowserContext | null = null;
  try {
    // Checked first: without Chromium no stack is needed.
    const program = findChromium();
    stack = await startStack({
      settings: { dataDir, ports: ANY_FREE_PORTS },
      restart: false,
      durable: false,
      signal: foreground.signal,
      env: { SVC_RATE_LIMIT_ENABLED: 'false' },
    });
    const waiting = await movements(stack);
    browser = await openBrowser({
      program,
      profile: join(dataDir, 'browser'),
      viewport: VIEWPORT,
    });
    const page = await browser.newPage();
    mkdirSync(FOLDER, { recursive: true });
    await listOfRuns(page, stack);
    await oneRun(page, waiting);
    await reference(page, stack);
    return 0;
  } catch (error) {
    say(`\n${error instanceof Error ? error.message : String(error)}`);
    return foreground.status ?? 1;
  } finally {
    await browser?.close();
    await stack?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

type Made = ResultOf<'createMovement'>;

/**
 * Creates three movements: completed, waiting at a gate that is then answered, and waiting for
 * approval.
 */
async function movements({ apiUrl, chain, keys }: Stack): Promise<Movement> {
  const api = operatorOf(apiUrl, keys);
  await loadStarterTemplates({ apiUrl, chain, keys });
  const create = (template: string, amount: string): Promise<Made> =>
    api.movements.create({
      template_key: `starter/${template}`,
      template_version: 1,
      intent: { asset: 'USDC', amount },
      strategy_id: 'rebalance',
    });
  const approve = async ({ movement_id, compiled_plan_hash }: Made): Promise<unknown> =>
    api.movements.approve(movement_id, { compiled_plan_hash, approver_id: 'desk-lead' });
  const reaches = ({ movement_id }: Made, state: MovementState): Promise<Movement> =>
    api.waitFor(movement_id, state, { timeoutMs: PATIENCE_MS });
  const completed = await create('withdraw-to-treasury', '250.5');
  await approve(completed);
  await reaches(completed, 'COMPLETED');
  const gated = await create('withdraw-with-gate', '12.5');
  await approve(gated);
  await reaches(gated, 'WAITING_MANUAL_ACTION');
  await create('treasury-transfer', '40');
  return api.movements.get(gated.movement_id);
}

/**
 * Takes the list of runs, with the service's search attributes as columns, as an operator would
 * choose them.
 */
async function listOfRuns(page: Page, { uiUrl }: Stack): Promise<void> {
  const names = ['Status', SEARCH_ATTRIBUTES.state, SEARCH_ATTRIBUTES.asset];
  const columns = [...names, SEARCH_ATTRIBUTES.template, 'Workflow ID', 'Start'];
  const chosen = JSON.stringify({ default: columns.map((label) => ({ label })) });
  await page.goto(uiUrl ?? '');
  await page.evaluate(
    `localStorage.setItem('namespace-workflow-table-columns', ${JSON.stringify(chosen)})`,
  );
  await page.setViewportSize({ width: VIEWPORT.width, height: 420 });
  await page.goto(`${uiUrl ?? ''}/namespaces/default/workflows`);
  await page.locator('table tbody tr').nth(2).waitFor();
  // Closes the side panel, so that the window has room for the columns.
  await page.getByText('Saved Views').locator('..').getByRole('button').first().click();
  await taken(page, 'temporal-runs');
  await page.setViewportSize(VIEWPORT);
}

async function oneRun(page: Page, { workflow }: Movement): Promise<void> {
  await page.goto(workflow.ui_url);
  // The "User Metadata" section shows what the run waits for.
  await page.getByText('User Metadata').first().click();
  await page
    .getByText(/current details/i)
    .first()
    .waitFor();
  await taken(page, 'temporal-run');
}

async function reference(page: Page, { opsUrl }: Stack): Promise<void> {
  await page.goto(`${opsUrl}/docs/#/Movements/approveMovement`);
  const operation = page.locator('#operations-Movements-approveMovement');
  await operation.locator('.responses-table').waitFor();
  await operation.evaluate('(element) => element.scrollIntoView()');
  await taken(page, 'api-reference');
}

/** Saves a screenshot once the page no longer changes. */
async function taken(page: Page, name: string): Promise<void> {
  await sleep(1_500);
  const file = join(FOLDER, `${name}.png`);
  writeFileSync(file, await page.screenshot({ animations: 'disabled' }));
  const { size } = statSync(file);
  if (size > MOST_BYTES)
    throw new Error(`${name}.png has ${String(size)} bytes, which is too many`);
  say(`docs/pictures/${name}.png: ${String(size)} bytes`);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
