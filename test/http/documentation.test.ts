/**
 * What is served to those who write a client: they need nothing else, and their first request is
 * signed well.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noop, registered, shared, template } from '../support/http.ts';

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'documented-client-'));
  writeFileSync(join(folder, 'fund_api.py'), await served('/docs/fund_api.py'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function served(path: string): Promise<string> {
  const answer = await fetch(shared.opsUrl + path);
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
  return answer.text();
}

function environment(): Record<string, string> {
  const { keyId, secret } = shared.keys.admin;
  const settings = { SVC_API_URL: shared.apiUrl, SVC_KEY_ID: keyId, SVC_HMAC_SECRET: secret };
  return { PATH: process.env['PATH'] ?? '', PYTHONPATH: folder, ...settings };
}

/** Runs Python beside the downloaded client, with the standard library alone. */
function python(args: readonly string[], input = ''): string {
  // -S leaves out whatever is installed beside it.
  return execFileSync('python3', ['-B', '-S', ...args], {
    cwd: folder,
    env: environment(),
    input,
    encoding: 'utf8',
    timeout: 60_000,
  });
}

describe('the client that is served', () => {
  const run = (...args: string[]): unknown => JSON.parse(python(['fund_api.py', ...args]));

  test('signs a read', () => {
    expect(run('GET', '/v3/whoami')).toEqual({
      client_id: shared.adminClientId,
      key_id: shared.keys.admin.keyId,
      role: 'admin',
    });
  });

  test('signs a query and a path with other letters', () => {
    const { template_key } = run(
      'POST',
      '/v3/plan-templates',
      JSON.stringify(template([noop('a')], { name: 'Überweisung → Kasse' })),
    ) as {
      template_key: string;
    };
    expect(
      run('GET', `/v3/plan-templates?template_key=${encodeURIComponent(template_key)}&limit=5`),
    ).toMatchObject({
      plan_templates: [{ template_key, name: 'Überweisung → Kasse' }],
    });
  });

  test('prints a drawing as it is', async () => {
    const made = await registered([noop('a')]);
    const { plan_templates: versions } = run(
      'GET',
      `/v3/plan-templates?template_key=${made.template_key}`,
    ) as { plan_templates: readonly { template_id: string }[] };
    const path = `/v3/plan-templates/${versions[0]?.template_id ?? ''}/graph?format=mermaid`;
    expect(python(['fund_api.py', 'GET', path])).toMatch(/^flowchart TD\n/);
  });

  test('says in one line what was refused and why, and what is wrong before that', () => {
    const refused = (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
      const { status, stdout, stderr } = spawnSync(
        'python3',
        ['-B', '-S', 'fund_api.py', ...args],
        { cwd: folder, encoding: 'utf8', env: { ...environment(), ...env } },
      );
      expect(stdout).toBe('');
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
      return [status, stderr];
    };
    expect(refused(['GET', '/v3/movements?limit=0'])).toEqual([
      1,
      expect.stringMatching(/^error: 422 invalid_request: .*; limit .* \(request [\w-]+\)\n$/),
    ]);
    expect(refused(['GET', '/v3/whoami'], { SVC_HMAC_SECRET: 'wrong' })).toEqual([
      1,
      expect.stringMatching(/^error: 401 /),
    ]);
    expect(refused(['POST', '/v3/movements', '{'])).toEqual([
      2,
      expect.stringMatching(/^error: the body is no JSON: /),
    ]);
    expect(refused(['GET', '/v3/whoami'], { SVC_KEY_ID: '' })).toEqual([
      2,
      expect.stringMatching(/^error: SVC_KEY_ID is not set; /),
    ]);
    expect(refused(['GET', '/v3/whoami'], { SVC_API_URL: 'http://127.0.0.1:9' })).toEqual([
      2,
      expect.stringMatching(/^error: http:\/\/127\.0\.0\.1:9 does not answer: /),
    ]);
  });

  test('signs writes, each with a nonce of its own', async () => {
    const { template_key } = await registered([noop('a')]);
    const script = [
      'import json, os, sys, fund_api',
      'key = os.environ["SVC_API_URL"], os.environ["SVC_KEY_ID"], os.environ["SVC_HMAC_SECRET"]',
      'calls = json.load(sys.stdin)',
      'print(json.dumps([fund_api.call(*key, method, target, body)[0] for method, target, body in calls]))',
    ].join('\n');
    const movement = {
      template_key,
      template_version: 1,
      intent: { asset: 'USDC', amount: '12.50' },
      labels: { café: '€' },
    };
    const calls = [
      [
        'PATCH',
        `/v3/plan-templates/${template_key}`,
        { daily_cap_amount: '5', daily_cap_asset: 'USDC' },
      ],
      ['POST', '/v3/movements', movement],
      ['POST', '/v3/movements', movement],
    ];
    expect(JSON.parse(python(['-c', script], JSON.stringify(calls)))).toEqual([200, 201, 201]);
  });
});

describe('the worked example', () => {
  /** What a reader of the document copies out of it. */
  async function example() {
    const { info } = JSON.parse(await served('/openapi.json')) as { info: { description: string } };
    const [, request = '', body = ''] =
      /```http\n([^]*?)\n\n([^]*?)\n```/.exec(info.description) ?? [];
    const [, lines] = /```text\n([^]*?)\n```/.exec(info.description) ?? [];
    const [, secret] = /with the secret `([^`]+)`/.exec(info.description) ?? [];
    const [, method, target] = /^(\w+) (\S+) HTTP/.exec(request) ?? [];
    const header = (name: string) => new RegExp(`^X-SVC-${name}: (.*)$`, 'm').exec(request)?.[1];
    const headers = {
      timestamp: header('Timestamp'),
      nonce: header('Nonce'),
      signature: header('Signature'),
    };
    return { secret, method, target, body, lines, ...headers };
  }

  test('is what the served client makes of it', async () => {
    const { lines, signature, ...parts } = await example();
    const script = [
      'import json, sys, fund_api',
      'e = json.load(sys.stdin)',
      'text = fund_api.canonical(e["method"], e["target"], e["body"].encode("utf-8"), e["timestamp"], e["nonce"])',
      'print(json.dumps([text, fund_api.signature(e["secret"], text)]))',
    ].join('\n');
    expect(signature).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.parse(python(['-c', script], JSON.stringify(parts)))).toEqual([lines, signature]);
  });
});

test('the text about signing is served by itself and stands in the document', async () => {
  const text = await served('/docs/signing.md');
  expect(text).toContain('## Signing requests');
  const { info } = JSON.parse(await served('/openapi.json')) as { info: { description: string } };
  expect(info.description).toContain(text);
});

test('the page asks no other host for anything', async () => {
  const answer = await fetch(`${shared.opsUrl}/docs/`);
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  const page = await answer.text();
  expect(page).not.toMatch(/https?:\/\//);
  for (const [, name = ''] of page.matchAll(/(?:src|href)="([^"]+)"/g))
    expect(await served(`/docs/${name}`)).not.toBe('');
});
