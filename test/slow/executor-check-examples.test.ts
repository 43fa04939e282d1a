/**
 * The examples pass the whole check, kill -9 included, and so does the command line that
 * docs/executors.md gives.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { freePort } from '../../dev/stack/ports.ts';
import { built } from '../../dev/bootstrap/programs.mjs';
import { checkTarget, optionsOf, troubles } from '../executor-kit/support/check.ts';

jest.setTimeout(60_000);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'executor-examples-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function runCheck(
  args: readonly string[],
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [built('executor-check'), ...args], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
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

test('the bank in Python passes, checked by the command', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const [data, tokenFile] = [join(folder, 'python'), join(folder, 'python.token')];
  writeFileSync(tokenFile, 'secret-of-the-python-bank');
  const { code, stdout, stderr } = await runCheck([
    ...[url, '--action-type', 'bank_payment', '--config', '{"to":"alice"}', '--json'],
    ...['--payees', '[{"field":"to","family":"cex"}]'],
    ...['--effects-url', `${url}/effects/{idempotency_key}`],
    ...['--token-file', tokenFile],
    ...[
      '--command',
      `exec python3 examples/executor-python/executor.py --port ${port} --data ${data} --token-file ${tokenFile}`,
    ],
  ]);
  expect(stderr).toBe('');
  const verdict = JSON.parse(stdout) as {
    ok: boolean;
    counts: object;
    checks: { id: string; status: string; reason?: string }[];
  };
  expect(verdict.checks.filter(({ status }) => status === 'failed')).toEqual([]);
  expect(verdict).toMatchObject({ ok: true, counts: { passed: 19, failed: 0, not_run: 1 } });
  expect(code).toBe(0);
}, 180_000);

test('faults of usage end with 2 and say what to do; a failed check ends with 1', async () => {
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
    0, 2, 2, 2, 1,
  ]);
  expect(help.stdout).toMatch(/--same-key-safe[\s\S]*Examples:[\s\S]*Exit status: 0/);
  expect(noType.stderr).toMatch(
    /required option '--action-type <name>' not specified[\s\S]*--help/,
  );
  expect(badConfig.stderr).toMatch(/absent\.json cannot be read/);
  expect(badEffects.stderr).toMatch(/must contain \{idempotency_key\}/);
  expect(noServer.stdout).toMatch(
    /✗ health[\s\S]*→ Answer GET \/health[\s\S]*FAILED: 1 passed, 1 failed, 18 not run/,
  );
  for (const { stderr, stdout } of [noType, badConfig, badEffects, noServer])
    expect(stderr + stdout).not.toMatch(/ at .*\.(ts|js):\d/);
}, 60_000);

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
