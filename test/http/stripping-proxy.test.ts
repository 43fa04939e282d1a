/**
 * A proxy that passes on no header that it does not know: previews stay previews, and a repeat
 * makes nothing twice, since our clients have both in what is signed.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { fundagent } from '../../clients/fundagent/program.ts';
import { createClient, PreviewError } from '../../clients/http/index.ts';
import { answer, startFlakyServer, type FlakyServer } from '../clients/flaky-server.ts';
import { agent, proposal } from '../support/agents.ts';
import { clientEnv, runFundctl, type Env, type Ran } from '../support/fundctl.ts';
import {
  expectInvalid,
  movementBody,
  must,
  noop,
  post,
  registered,
  shared,
  sql,
  type CreatedView,
  type TemplateView,
} from '../support/http.ts';
import { toolEnv } from '../support/mcp.ts';

const PASSED = /^(x-svc-.*|content-.*|accept|host)$/;

async function startStrippingProxy(): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((request, response) => {
    const headers = Object.entries(request.headers).filter(([name]) => PASSED.test(name));
    const onward = httpRequest(
      shared.apiUrl + (request.url ?? '/'),
      { method: request.method ?? 'GET', headers: Object.fromEntries(headers) },
      (came) => {
        response.writeHead(came.statusCode ?? 502, came.headers);
        came.pipe(response);
      },
    );
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` };
}

let proxy: { readonly server: Server; readonly url: string };
let made: TemplateView;
let template: string;
let careless: FlakyServer;
beforeAll(async () => {
  proxy = await startStrippingProxy();
  careless = await startFlakyServer();
  made = await registered([noop('a')]);
  template = `${made.template_key}@${String(made.version)}`;
});
afterAll(async () => {
  proxy.server.closeAllConnections();
  proxy.server.close();
  await careless.stop();
});

const movementsOf = async (key: string): Promise<number> =>
  Number(
    (await sql<{ n: string }>('SELECT count(*) n FROM movements WHERE template_key = $1', [key]))[0]
      ?.n,
  );
const wanted = (): string[] => ['--template', template, '--asset', 'USDC', '--amount', '1'];
const env = (): Env => clientEnv(proxy.url, shared.keys.operator);

async function runFundagent(own: Env, ...args: readonly string[]): Promise<Ran> {
  let [out, err] = ['', ''];
  const status = await fundagent(args, {
    env: { SVC_OUTPUT: 'json', ...own },
    out: (text) => (out += text),
    err: (text) => (err += text),
    terminal: { in: false, out: false, err: false },
    read: () => Promise.resolve(''),
    signal: new AbortController().signal,
  });
  return { status, out, err };
}

test('a preview writes nothing, whichever client asks for it', async () => {
  const shown = await runFundctl(env(), ['movements', 'preview', ...wanted(), '--output', 'json']);
  expect([shown.status, shown.err]).toEqual([0, '']);
  expect(JSON.parse(shown.out)).toMatchObject({ would_create: true });
  const client = createClient({ baseUrl: proxy.url, key: shared.keys.operator });
  expect(await client.movements.preview(movementBody(made))).toMatchObject({ would_create: true });
  const python = await runPython(proxy.url, '/v3/movements?dry_run=true', movementBody(made));
  expect(python).toMatchObject({ status: 0 });
  expect(await movementsOf(made.template_key)).toBe(0);
});

test('a create that is repeated with its key is one movement', async () => {
  const key = randomUUID();
  const create = ['movements', 'create', ...wanted(), '--idempotency-key', key];
  const ids = [];
  for (const _ of [1, 2]) {
    const { status, out, err } = await runFundctl(env(), [...create, '--output', 'json']);
    expect({ status, err }).toMatchObject({ status: 0 });
    ids.push((JSON.parse(out) as CreatedView).movement_id);
  }
  expect(ids[0]).toBe(ids[1]);
  expect(await movementsOf(made.template_key)).toBe(1);
});

test("an agent's proposals, attempts and movements are made once, and previews not at all", async () => {
  const own = await agent();
  const its = toolEnv(own, proxy.url, own.namespace);
  const flags = Object.entries(proposal()).flatMap(([name, value]) => [
    `--${name.replaceAll('_', '-')}`,
    String(value),
  ]);
  const once = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
    const keyed = [...args, '--idempotency-key', `k-${args[0] ?? ''}-${args[1] ?? ''}`];
    const [first, second] = [await runFundagent(its, ...keyed), await runFundagent(its, ...keyed)];
    expect([first.status, first.err, second.status]).toEqual([0, '', 0]);
    const [one, two] = [first, second].map(({ out }) => JSON.parse(out) as Record<string, unknown>);
    for (const id of ['proposal_id', 'movement_id']) expect(two?.[id]).toBe(one?.[id]);
    return one ?? {};
  };
  const proposed = await once('proposals', 'create', ...flags);
  const version = ['--template-key', String(proposed['template_key'])].concat(
    '--template-version',
    String(proposed['template_version']),
    '--asset',
    'USDC',
    '--amount',
    '40',
  );
  const preview = await runFundagent(its, 'movements', 'preview', ...version);
  expect([preview.status, JSON.parse(preview.out)]).toMatchObject([0, { would_create: true }]);
  expect(await movementsOf(String(proposed['template_key']))).toBe(0);
  await once('movements', 'create', ...version);
  expect(await movementsOf(String(proposed['template_key']))).toBe(1);
});

describe('the parameter is the signed form of the header', () => {
  const dry = '/movements?dry_run=true';
  test('the header alone still previews, both may be sent, and they must not differ', async () => {
    const body = movementBody(made);
    const before = await movementsOf(made.template_key);
    for (const [path, header] of [
      ['/movements', 'true'],
      [dry, 'true'],
    ] as const) {
      const preview = await must(200, post(path, body, { 'dry-run': header }));
      expect(preview).toMatchObject({ would_create: true });
    }
    expectInvalid(await post(dry, body, { 'dry-run': 'false' }), 'dry_run');
    expectInvalid(await post('/movements?dry_run=1', body), 'dry_run');
    expectInvalid(
      await post('/routes/recommend?dry_run=true', { asset: 'USDC', amount: '1' }),
      'dry_run',
    );
    expect(await movementsOf(made.template_key)).toBe(before);
  });
});

describe('what is no preview is an alarm that names what was made', () => {
  const ID = '01a2b3c4-0000-4000-8000-000000000001';
  const CREATED = { movement_id: ID, request_state: 'PENDING_APPROVAL' };
  test.each([
    [201, CREATED, ID],
    [200, CREATED, ID],
    [200, {}, 'look for what was made'],
  ])('%s %j', async (status, body, said) => {
    const client = createClient({
      baseUrl: careless.url,
      key: shared.keys.operator,
      prefix: '/v3',
    });
    careless.script(answer(status, body));
    const error = await client.movements.preview(movementBody(made)).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(PreviewError);
    expect(String(error)).toContain(said);
    expect(careless.seen).toHaveLength(1);

    const health = answer(200, { ok: true, service: 'x', api_prefix: '/v3' });
    const templates = answer(200, { plan_templates: [made], next_cursor: null });
    const serve = (): void =>
      careless.script((response, seen) => {
        const act = seen.target.startsWith('/healthz')
          ? health
          : seen.method === 'GET'
            ? templates
            : answer(status, body);
        act(response, seen);
      });
    serve();
    const its = clientEnv(careless.url, shared.keys.operator);
    const run = await runFundctl(its, ['movements', 'preview', ...wanted()]);
    expect(run).toMatchObject({ status: 1, out: '', err: expect.stringContaining('ALARM') });
    expect(run.err).toContain(said);
    serve();
    const own = toolEnv(await agent(), careless.url, 'agent/x');
    const version = ['--template-key', 'agent/x/y', '--template-version', '1'];
    const amount = ['--asset', 'USDC', '--amount', '1'];
    const agents = await runFundagent(own, 'movements', 'preview', ...version, ...amount);
    expect([agents.status, agents.out]).toEqual([1, '']);
    expect(agents.err).toContain(said);
    serve();
    const python = await runPython(careless.url, '/v3/movements?dry_run=true', {});
    expect(python).toMatchObject({ status: 1, err: expect.stringContaining(said) });
  });

  test('fund_api.py follows no redirection', async () => {
    careless.script(
      answer(302, {}, { location: `${careless.url}/elsewhere` }),
      answer(200, { would_create: true }),
    );
    const python = await runPython(careless.url, '/v3/whoami');
    expect(python.status).toBe(1);
    expect(careless.seen.map(({ target }) => target)).toEqual(['/v3/whoami']);
  });
});

async function runPython(
  url: string,
  target: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly err: string }> {
  const { keyId, secret } = shared.keys.operator;
  const args = body === undefined ? ['GET', target] : ['POST', target, JSON.stringify(body)];
  try {
    await promisify(execFile)('python3', ['docs/clients/fund_api.py', ...args], {
      env: {
        PATH: process.env.PATH,
        SVC_API_URL: url,
        SVC_KEY_ID: keyId,
        SVC_HMAC_SECRET: String(secret),
      },
    });
    return { status: 0, err: '' };
  } catch (error) {
    const { code, stderr } = error as { readonly code: number; readonly stderr: string };
    return { status: code, err: stderr };
  }
}
