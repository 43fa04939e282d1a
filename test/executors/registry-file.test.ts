import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { TASK_QUEUE } from '../../domain/messages.ts';
import { RegistryFileError, readRegistryFile } from '../../executors/registry-file.ts';

const signer = z.strictObject({ signer_key: z.string() });
const minimal = {
  executor_key: 'team.a',
  kind: 'remote',
  url: 'https://a.example/base',
  action_types: ['cex_withdrawal'],
};
/** What an entry is that says no more than it must. */
const defaults = {
  timeout_seconds: 30,
  same_key_safe: false,
  settle_seconds: 0,
  sends: true,
  not_payees: [],
  completion_assurances: ['provider_completed'],
};
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'registry-'));
  mkdirSync(join(folder, 'secrets'));
  writeFileSync(join(folder, 'secrets', 'token'), 'x');
});
afterAll(() => rmSync(folder, { recursive: true }));

function read(content: unknown) {
  const file = join(folder, 'registry.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return readRegistryFile(file, signer);
}

function problems(content: unknown): readonly string[] {
  try {
    read(content);
  } catch (error) {
    if (error instanceof RegistryFileError) return error.problems;
    throw error;
  }
  throw new Error('the file was taken');
}

test('an entry gets its defaults, and its token path is resolved against the file', () => {
  const { executors, signers } = read({
    executors: [
      minimal,
      { ...minimal, executor_key: 'team.b', auth_token_file: 'secrets/token', same_key_safe: true },
    ],
    signers: [{ signer_key: 's' }],
  });
  expect(executors).toEqual([
    { ...minimal, ...defaults },
    {
      ...minimal,
      ...defaults,
      executor_key: 'team.b',
      same_key_safe: true,
      auth_token_file: join(folder, 'secrets/token'),
    },
  ]);
  expect(signers).toEqual([{ signer_key: 's' }]);
});

test('an empty file declares nothing', () => {
  expect(read({})).toEqual({ executors: [], signers: [], folder });
});

test('all faults are reported together, each with its place', () => {
  const found = problems({
    executors: [
      { ...minimal, url: 'ftp://a' },
      { ...minimal, executor_key: 'b', url: 'https://user:pw@a', timeout_seconds: 0, colour: 1 },
      { ...minimal, executor_key: 'c', kind: 'carrier_pigeon' },
    ],
    signers: [{ signer_key: 5 }],
  });
  expect(found).toEqual(
    expect.arrayContaining([
      'executors[0].url: must be an http or https URL',
      'executors[1].url: must not hold credentials; use auth_token_file',
      expect.stringMatching(/^executors\[1\]\.timeout_seconds: /),
      expect.stringMatching(/^executors\[1\]: .*colour/),
      expect.stringMatching(/^executors\[2\]\.kind: /),
      expect.stringMatching(/^signers\[0\]\.signer_key: /),
    ]),
  );
});

test('a task-queue entry is taken with its queue and defaults', () => {
  const entry = {
    executor_key: 'team.queue',
    kind: 'task_queue',
    task_queue: 'team payments',
    action_types: ['payout'],
    payees: [],
  };
  expect(read({ executors: [entry] }).executors).toEqual([{ ...entry, ...defaults }]);
});

test('a task-queue entry has no URL and no token, and its queue a name', () => {
  const entry = {
    executor_key: 'q',
    kind: 'task_queue',
    task_queue: 'q',
    action_types: ['payout'],
    payees: [],
  };
  expect(
    problems({
      executors: [
        { ...entry, auth_token_file: 'secrets/token' },
        { ...entry, executor_key: 'r', url: 'https://a.example' },
        { ...entry, executor_key: 's', task_queue: ' s' },
        { ...entry, executor_key: 't', task_queue: undefined },
        { ...entry, executor_key: 'u', task_queue: TASK_QUEUE },
        { ...entry, executor_key: 'v', task_queue: 'fund-movements/venue/okx-main' },
      ],
    }),
  ).toEqual([
    expect.stringMatching(/^executors\[0\]: .*auth_token_file/),
    expect.stringMatching(/^executors\[1\]: .*url/),
    'executors[2].task_queue: must not have control characters or outer spaces',
    expect.stringMatching(/^executors\[3\]\.task_queue: /),
    "executors[4].task_queue: must not be the service's own queue",
    "executors[5].task_queue: must not be the service's own queue",
  ]);
});

test('repeated keys and missing token files are refused with their place', () => {
  expect(
    problems({
      executors: [
        minimal,
        minimal,
        {
          executor_key: 't',
          kind: 'task_queue',
          task_queue: 'q',
          action_types: ['x'],
          sends: false,
        },
        { ...minimal, executor_key: 'u', auth_token_file: 'absent' },
      ],
    }),
  ).toEqual([
    'executors[1].executor_key: already used by executors[0]',
    `executors[3].auth_token_file: ${join(folder, 'absent')} cannot be read`,
  ]);
});

describe('what an entry says of its nodes', () => {
  const own = { ...minimal, action_types: ['noop', 'acme_payout', 'acme_refund'] };

  test('whom types of its own pay must be said', () => {
    expect(problems({ executors: [{ ...minimal, executor_key: 'team.b' }, own] })).toEqual([
      expect.stringMatching(
        /^executors\[1\]\.payees: must say whom acme_payout, acme_refund pays, as in \[\{"field": .*"sends": false/,
      ),
    ]);
  });

  test.each([
    [
      'fields',
      {
        payees: [
          { field: 'to', family: 'cex' },
          { field: 'orders.wallet', family: 'evm', chain_id_field: 'orders.chain' },
        ],
      },
    ],
    ['no payee', { payees: [] }],
    ['nothing is moved', { sends: false }],
    [
      'what else may be an address, and what it can show',
      { payees: [], not_payees: ['audit.wallet'], completion_assurances: ['destination_credited'] },
    ],
  ])('%s', (_, facts) => {
    expect(read({ executors: [{ ...own, ...facts }] }).executors).toEqual([
      { ...own, ...defaults, ...facts },
    ]);
  });

  test('faults are reported with their place', () => {
    const facts = [
      { payees: [{ field: 'a..b', family: 'evm' }] },
      { payees: [{ field: 'to', family: 'tron' }] },
      { payees: [{ field: 'to' }] },
      { payees: [{ field: 'to', family: 'evm', chain: 1 }] },
      { payees: [], not_payees: ['.'] },
      { payees: [], completion_assurances: [] },
      { payees: [], completion_assurances: ['perhaps'] },
      { sends: 'no' },
    ];
    expect(
      problems({
        executors: facts.map((each, index) => ({
          ...own,
          executor_key: `k${String(index)}`,
          ...each,
        })),
      }),
    ).toEqual([
      'executors[0].payees[0].field: must be names joined by dots',
      expect.stringMatching(/^executors\[1\]\.payees\[0\]\.family: /),
      expect.stringMatching(/^executors\[2\]\.payees\[0\]\.family: /),
      expect.stringMatching(/^executors\[3\]\.payees\[0\]: .*chain/),
      'executors[4].not_payees[0]: must be names joined by dots',
      expect.stringMatching(/^executors\[5\]\.completion_assurances: /),
      expect.stringMatching(/^executors\[6\]\.completion_assurances\[0\]: /),
      expect.stringMatching(/^executors\[7\]\.sends: /),
    ]);
  });
});

test('a file that is missing or no JSON is named', () => {
  expect(problems('{')).toEqual(['is not JSON']);
  expect(problems('{"executors":[{"url":"https://a","url":"https://b"}]}')).toEqual([
    'executors[0].url: appears more than once',
  ]);
  expect(() => readRegistryFile(join(folder, 'none.json'), signer)).toThrow(RegistryFileError);
  expect(() => readRegistryFile(join(folder, 'none.json'), signer)).toThrow(
    /none\.json cannot be used/,
  );
});

test('an executor on another machine is called over https alone', () => {
  const at = (url: string) => ({ executors: [{ ...minimal, url }] });
  for (const url of ['http://a.example', 'http://10.0.0.1:8300', 'http://localhost.example'])
    expect(problems(at(url))).toEqual([
      'executors[0].url: must be https, unless the executor is on this machine',
    ]);
  for (const url of ['http://127.0.0.1:8300', 'http://localhost:8300', 'http://[::1]:8300'])
    expect(read(at(url)).executors).toMatchObject([{ url }]);
});

test('the secret of a team’s results has its place, and a length that can be used', () => {
  const { url: _none, ...entry } = minimal;
  const at = (result_secret_file: string) => ({
    executors: [{ ...entry, kind: 'task_queue', task_queue: 'q', result_secret_file }],
  });
  writeFileSync(join(folder, 'secrets', 'result'), `${'s'.repeat(16)}\n`);
  expect(read(at('secrets/result')).executors).toMatchObject([
    { result_secret_file: join(folder, 'secrets', 'result') },
  ]);
  for (const file of ['secrets/token', 'secrets/none'])
    expect(problems(at(file))).toEqual([
      expect.stringMatching(/^executors\[0\]\.result_secret_file: .*fewer than 16 bytes$/),
    ]);
});
