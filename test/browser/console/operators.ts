/**
 * Operators' browsers before the real door: each enrols by a link, as a person does. A proxy of one
 * origin sees every request; it checks each signature by itself, with the key that the browser
 * handed over, and can lose an answer.
 */
import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { dashboardCanonicalString } from '../../../api/auth/canonical.ts';
import { openBrowser } from '../../../dev/browser.ts';
import { secretsKeyPath } from '../../../dev/stack/keys.ts';
import { freePort } from '../../../dev/stack/ports.ts';
import { startOwnStack, type OwnStack, type OwnStackOptions } from '../../support/own-stack.ts';
import { tool } from '../../support/tool.ts';
import { startReverseProxy, type Passed } from '../reverse-proxy.ts';

export const PATIENCE = 20_000;

export interface Write {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  readonly status: number;
  /** By which operator it is signed for exactly this request; null: by none. */
  readonly signedBy: string | null;
}

export interface Read {
  readonly path: string;
  readonly status: number;
  /** The page says that it reads it for no person. */
  readonly isBackground: boolean;
}

export interface Browsers {
  /** What any page reported against its policy, or could not handle. */
  readonly complaints: readonly string[];
  /** A browser with a profile of its own. */
  open(width?: number): Promise<BrowserContext>;
  close(): Promise<void>;
}

/** Browsers whose every page is watched, and which leave nothing behind. */
export function watchedBrowsers(): Browsers {
  const room = mkdtempSync(join(tmpdir(), 'console-browsers-'));
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];
  return {
    complaints,
    open: async (width = 1280) => {
      const context = await openBrowser({
        program: process.env['TEST_CHROMIUM'] ?? '',
        profile: join(room, String(contexts.length)),
        viewport: { width, height: 900 },
      });
      contexts.push(context);
      await context.addInitScript(`document.addEventListener('securitypolicyviolation', (event) =>
        console.error('policy: ' + event.effectiveDirective + ' ' + event.blockedURI));`);
      context.on('console', (message) => {
        // A stranger's page complains of what the console refuses it.
        const isOurs = /^[^/]*\/\/[^/]*\/console(\/|$)/.test(message.page()?.url() ?? '');
        const isFault =
          message.type() === 'error' && /policy|Trusted|integrity/i.test(message.text());
        if (isOurs && isFault) complaints.push(message.text());
      });
      context.on('weberror', (error) => complaints.push(String(error.error())));
      return context;
    },
    close: async () => {
      for (const context of contexts) await context.close();
      rmSync(room, { recursive: true, force: true });
    },
  };
}

/** Runs `fundadmin dashboard`; fails with what it says. */
export async function dashboard(
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<Record<string, unknown>> {
  const { status, out, err } = await tool(['dashboard', ...args], env);
  if (status !== 0) throw new Error(err);
  return JSON.parse(out) as Record<string, unknown>;
}

/** The fingerprint that the page shows. */
export async function shownFingerprint(page: Page): Promise<string> {
  const words = await page.getByText('fingerprint').first().innerText();
  return /[0-9A-Z]{4}(-[0-9A-Z]{4}){3}/.exec(words)?.[0] ?? '';
}

const AXE = {
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] },
  // What passes would be described too, which takes most of its time.
  resultTypes: ['violations'],
};

/** Fails with each element of the page that not everyone can read or use. */
export async function accessible(page: Page): Promise<void> {
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe.source);
  const violations = await page.evaluate(`axe.run(document, ${JSON.stringify(AXE)}).then(
    ({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`);
  expect(violations).toEqual([]);
}

export interface Console {
  readonly own: OwnStack;
  readonly origin: string;
  /** In the order of their answers. */
  readonly writes: readonly Write[];
  /** Reads, in the same order. */
  readonly reads: readonly Read[];
  readonly browsers: Browsers;
  /** `fundadmin dashboard` of this stack. */
  dashboard(...args: readonly string[]): Promise<Record<string, unknown>>;
  /** A new page of an operator, who enrols where their browser has no key yet. */
  pageOf(operator: string, width?: number): Promise<Page>;
  /** Makes a key in this page, and confirms it; answers nothing before the page goes on. */
  enrol(page: Page, operator: string, ...more: readonly string[]): Promise<void>;
  /** Whether what open streams go on with is lost, while their connections stand. */
  silenceStreams(are: boolean): void;
  /** The next write of the API is carried out, and its answer is lost. */
  loseNextAnswer(): void;
  /** Fails where a write left unsigned or a page complained; closes all pages. */
  afterEach(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a stack of its own with its console. */
export async function startConsole(options: OwnStackOptions = {}): Promise<Console> {
  const port = await freePort();
  const origin = `http://localhost:${String(port)}`;
  const own = await startOwnStack({
    ...options,
    env: { SVC_CONSOLE_ORIGIN: origin, ...options.env },
  });
  const { databaseUrl, dataDir, apiUrl } = own.stack;
  const toolEnv = {
    SVC_DATABASE_URL: databaseUrl,
    SVC_SECRETS_KEY_FILE: secretsKeyPath(dataDir),
    SVC_CONSOLE_ORIGIN: origin,
  };
  const writes: Write[] = [];
  const reads: Read[] = [];
  /** Of every browser, as it handed it over. */
  const secrets = new Set<string>();
  let loses = false;
  let isSilent = false;
  const carries = (path: string): boolean => !isSilent || !path.startsWith('/dashboard/stream');
  const passed = (request: Passed): boolean => {
    const { method, target: path, status } = request;
    if (method === 'GET' || method === 'HEAD') {
      const isBackground = request.headers['x-svc-background'] !== undefined;
      reads.push({ path, status, isBackground });
      return true;
    }
    const body = request.body.toString('utf8');
    if (path === '/dashboard/enrol') {
      const { secret } = JSON.parse(body) as { readonly secret: string };
      secrets.add(secret);
    }
    writes.push({ method, path, body, status, signedBy: signerOf(request, secrets) });
    const isLost = loses && path.startsWith('/dashboard/api/');
    if (isLost) loses = false;
    return !isLost;
  };
  const proxy = await startReverseProxy(
    apiUrl,
    { files: {}, passesOn: () => true, passed, carries },
    port,
  );
  const browsers = watchedBrowsers();
  const contexts = new Map<string, BrowserContext>();
  const open = new Set<Page>();
  const run = (...args: readonly string[]) => dashboard(args, toolEnv);
  const enrol: Console['enrol'] = async (page, operator, ...more) => {
    const { link } = await run('enrol', '--operator', operator, '--role', 'operator', ...more);
    await page.goto(String(link));
    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByRole('heading', { name: 'The key waits for its confirmation' }).waitFor();
    await run('confirm', '--operator', operator, '--fingerprint', await shownFingerprint(page));
    await page.getByRole('navigation').first().waitFor({ timeout: PATIENCE });
  };
  return {
    own,
    origin,
    writes,
    reads,
    browsers,
    dashboard: run,
    enrol,
    pageOf: async (operator, width = 1280) => {
      const known = contexts.get(operator);
      const context = known ?? (await browsers.open());
      contexts.set(operator, context);
      const page = await context.newPage();
      open.add(page);
      await page.setViewportSize({ width, height: 900 });
      if (known === undefined) await enrol(page, operator);
      return page;
    },
    silenceStreams: (are) => {
      isSilent = are;
    },
    loseNextAnswer: () => {
      loses = true;
    },
    afterEach: async () => {
      for (const page of open) await page.close();
      open.clear();
      expect(browsers.complaints).toEqual([]);
      expect(writes.filter(({ signedBy }) => signedBy === null)).toEqual([]);
    },
    stop: async () => {
      await browsers.close();
      await proxy.stop();
      await own.close();
    },
  };
}

/** Who has signed exactly this request, by the contract and by no code of the page's. */
function signerOf(
  { method, target, headers, body }: Passed,
  secrets: ReadonlySet<string>,
): string | null {
  const of = (name: string): string => String(headers[`x-svc-dashboard-${name}`] ?? '');
  const [path = '', query = ''] = target.split('?');
  const operator = of('operator');
  const text = dashboardCanonicalString({
    method,
    path: decodeURIComponent(path),
    query,
    body,
    operator,
    timestamp: of('timestamp'),
    nonce: of('nonce'),
  });
  const isRight = [...secrets].some(
    (secret) => of('signature') === `v3=${createHmac('sha256', secret).update(text).digest('hex')}`,
  );
  return isRight ? operator : null;
}
