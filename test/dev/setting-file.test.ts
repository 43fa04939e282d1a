/**
 * What somebody declares for the embedded stack stands beside its own, with paths that still lead
 * there.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withSettingFile } from '../../dev/stack/setting-file.ts';

const OWN = { executors: [{ executor_key: 'paper.withdrawal' }], signers: [{ signer_key: 'dev' }] };
const BANK = {
  executor_key: 'desk.bank',
  kind: 'remote',
  url: 'http://127.0.0.1:9',
  action_types: ['bank_payment'],
  payees: [],
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'setting-file-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function declared(content: unknown): NodeJS.ProcessEnv {
  const file = join(folder, 'registry.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return { SVC_REGISTRY_FILE: file };
}

test('without a file there is what the stack has', async () => {
  expect(await withSettingFile('SVC_REGISTRY_FILE', OWN, { SVC_REGISTRY_FILE: ' ' })).toEqual({
    lists: OWN,
    added: [],
  });
});

test('entries are added, and their files are found from where they were named', async () => {
  writeFileSync(join(folder, 'bank.token'), 'a token');
  const env = declared({ executors: [{ ...BANK, auth_token_file: 'bank.token' }] });
  expect(await withSettingFile('SVC_REGISTRY_FILE', OWN, env)).toEqual({
    lists: {
      executors: [...OWN.executors, { ...BANK, auth_token_file: join(folder, 'bank.token') }],
      signers: OWN.signers,
    },
    added: [`1 executor of ${env['SVC_REGISTRY_FILE'] ?? ''}: desk.bank`],
  });
});

test.each([
  ['is no JSON', '{', /registry\.json[^]*is not JSON/],
  [
    'names a file that is not there',
    { executors: [{ ...BANK, auth_token_file: 'gone' }] },
    /executors\[0\]\.auth_token_file: .*gone cannot be read/,
  ],
  ['has an unknown field', { executors: [{ ...BANK, colour: 'red' }] }, /executors\[0\][^]*colour/],
  [
    'takes a name of the stack',
    { executors: [{ ...BANK, executor_key: 'paper.withdrawal' }] },
    /executor_key paper\.withdrawal is one of the embedded stack/,
  ],
] as const)('a file that %s is refused with its place', async (_what, content, message) => {
  await expect(withSettingFile('SVC_REGISTRY_FILE', OWN, declared(content))).rejects.toThrow(
    message,
  );
});

test('venues are read as the service reads them', async () => {
  const file = join(folder, 'venues.json');
  writeFileSync(file, JSON.stringify({ venues: [{ venue_key: 'x', provider: 'no such' }] }));
  await expect(
    withSettingFile('SVC_VENUES_FILE', { venues: [] }, { SVC_VENUES_FILE: file }),
  ).rejects.toThrow(/provider/);
});
