/**
 * The bank over HTTP passes the whole check, kill -9 included, and what the check says of faults.
 * The other examples: test/slow/guides and executor-check-task-queue.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '../../dev/stack/ports.ts';
import { built } from '../../dev/bootstrap/programs.mjs';
import { serveExecutor } from '../../executor-kit/http.ts';
import { scriptedDesk } from '../support/scripted-desk.ts';
import { checkTarget, optionsOf, troubles } from '../executor-kit/support/check.ts';

jest.setTimeout(60_000);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'executor-examples-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function runCheck(
  args: readonly string[],
): Promise<{ code: number; stdout: string; stderr: string; lingered_ms: number }> {
  return new Promise((resolve) => {
    let spoke = Date.now();
    const child = execFile(
      process.execPath,
      [built('executor-check'), ...args],
      (error, stdout, stderr) => {
        const code = error === null ? 0 : Number(error.code);
        resolve({ code, stdout, stderr, lingered_ms: Date.now() - spoke });
      },
    );
    child.stdout?.on('data', () => (spoke = Date.now()));
  });
}

test('the bank over HTTP passes, with its token', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, 'secret-of-the-bank');
  const results = await checkTarget(
    optionsOf(url, {
      config: { to: 'alice' },
      payees: [{ field: 'to', family: 'cex' }],
      tokenFile,
      effectsUrl: `${url}/effects/{idempotency_key}`,
      command: `exec node dist/executor-http.js --port ${port} --data ${join(folder, 'bank')} --token-file ${tokenFile}`,
    }),
  );
  expect(troubles(results)).toEqual([]);
  expect(results.filter(({ status }) => status === 'not_run').map(({ id }) => id)).toEqual([
    'too-late',
  ]);
}, 180_000);

test('faults of usage, and an unreachable executor, end with 2 and say what to do', async () => {
  const [help, noType, badConfig, badEffects, noServer, badPayees, badFields] = await Promise.all([
    runCheck(['--help']),
    runCheck(['http://127.0.0.1:1']),
    runCheck(['http://127.0.0.1:1', '--action-type', 'x', '--config', '@absent.json']),
    runCheck(['http://127.0.0.1:1', '--action-type', 'x', '--effects-url', 'http://a']),
    runCheck(['http://127.0.0.1:1', '--action-type', 'x']),
    runCheck([
      'http://127.0.0.1:1',
      '--action-type',
      'x',
      '--payees',
      '[{"field":"to","family":"sepa"}]',
    ]),
    runCheck(['http://127.0.0.1:1', '--action-type', 'x', '--not-payees', 'audit..sender']),
  ]);
  expect([badPayees.code, badPayees.stderr]).toEqual([
    2,
    expect.stringMatching(/no payees of a registry entry: payees\[0\]\.family: /),
  ]);
  expect([badFields.code, badFields.stderr]).toEqual([
    2,
    expect.stringMatching(/no list of fields/),
  ]);
  expect([help.code, noType.code, badConfig.code, badEffects.code, noServer.code]).toEqual([
    0, 2, 2, 2, 2,
  ]);
  expect(help.stdout).toMatch(/--same-key-safe[\s\S]*Examples:[\s\S]*Exit status: 0/);
  expect(noType.stderr).toMatch(
    /required option '--action-type <name>' not specified[\s\S]*--help/,
  );
  expect(badConfig.stderr).toMatch(/absent\.json cannot be read/);
  expect(badEffects.stderr).toMatch(/must contain \{idempotency_key\}/);
  expect([noServer.stdout, noServer.stderr]).toEqual([
    '',
    expect.stringMatching(/^error: nothing answers at http:\/\/127\.0\.0\.1:1 \(ECONNREFUSED\)/),
  ]);
  for (const { stderr, stdout } of [noType, badConfig, badEffects, noServer])
    expect(stderr + stdout).not.toMatch(/ at .*\.(ts|js):\d/);
});

test('what was not covered is no plain pass, and one cause is reported once', async () => {
  const served = await serveExecutor(scriptedDesk().executor, { port: 0, log: () => undefined });
  const broken = createServer((_request, response) => void response.writeHead(500).end());
  await new Promise<void>((resolve) => broken.listen(0, '127.0.0.1', resolve));
  const { port } = broken.address() as AddressInfo;
  try {
    const checked = ['--action-type', 'scripted', '--payees', '[]'];
    const [bare, narrow, dead] = await Promise.all([
      runCheck([served.url, ...checked, '--no-same-key-safe', '--json']),
      runCheck([served.url, ...checked, '--only', 'health']),
      runCheck([`http://127.0.0.1:${String(port)}`, ...checked]),
    ]);
    expect(JSON.parse(bare.stdout)).toMatchObject({
      verdict: expect.stringMatching(/^(FAILED|PASSED_WITHOUT)$/),
      not_covered: ['effects (--effects-url)', 'crashes (--command)'],
    });
    // Its time-out of a call is 30 s: no timer of an answer that was lost holds up the end.
    expect(bare.lingered_ms).toBeLessThan(15_000);
    expect(narrow.stdout).toMatch(
      /not run, left out by --only: [\s\S]*\nPASSED WITHOUT effects \(--effects-url\), [^\n]*\(--only\): /,
    );
    expect(dead.code).toBe(1);
    expect(dead.stdout).toMatch(/✗ health[\s\S]*\nFAILED: /);
    expect(dead.stdout.match(/the checks before it must pass first/g)).toHaveLength(1);
  } finally {
    broken.close();
    await served.stop();
  }
});

test('a command that does not stay, or an address that is taken, is a fault of usage', async () => {
  const ends = await runCheck([
    'http://127.0.0.1:1',
    '--action-type',
    'x',
    '--command',
    'echo no such bank >&2; exit 7',
  ]);
  expect([ends.code, ends.stderr]).toEqual([
    2,
    'error: the command ended (status 7):\nno such bank\n',
  ]);
});
