import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
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
    executors: [minimal, { ...minimal, executor_key: 'team.b', auth_token_file: 'secrets/token', same_key_safe: true }],
    signers: [{ signer_key: 's' }],
  });
  expect(executors).toEqual([
    { ...minimal, timeout_seconds: 30, same_key_safe: false, settle_seconds: 0 },
    {
      ...minimal,
      executor_key: 'team.b',
      timeout_seconds: 30,
      same_key_safe: true,
      settle_seconds: 0,
      auth_token_file: join(folder, 'secrets/token'),
    },
  ]);
  expect(signers).toEqual([{ signer_key: 's' }]);
});

test('an empty file declares nothing', () => {
  expect(read({})).toEqual({ executors: [], signers: [], folder });
});

test('all faults are told together, each with its place', () => {
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
  const entry = { executor_key: 'team.queue', kind: 'task_queue', task_queue: 'team payments', action_types: ['payout'] };
  expect(read({ executors: [entry] }).executors).toEqual([{ ...entry, timeout_seconds: 30, same_key_safe: false, settle_seconds: 0 }]);
});

test('a task-queue entry has no URL and no token, and its queue a name', () => {
  const entry = { executor_key: 'q', kind: 'task_queue', task_queue: 'q', action_types: ['payout'] };
  expect(
    problems({
      executors: [
        { ...entry, auth_token_file: 'secrets/token' },
        { ...entry, executor_key: 'r', url: 'http://a.example' },
        { ...entry, executor_key: 's', task_queue: ' s' },
        { ...entry, executor_key: 't', task_queue: undefined },
        { ...entry, executor_key: 'u', task_queue: TASK_QUEUE },
      ],
    }),
  ).toEqual([
    expect.stringMatching(/^executors\[0\]: .*auth_token_file/),
    expect.stringMatching(/^executors\[1\]: .*url/),
    'executors[2].task_queue: must not have control characters or outer spaces',
    expect.stringMatching(/^executors\[3\]\.task_queue: /),
    "executors[4].task_queue: must not be the service's own queue",
  ]);
});

test('repeated keys and missing token files are refused with their place', () => {
  expect(
    problems({
      executors: [
        minimal,
        minimal,
        { executor_key: 't', kind: 'task_queue', task_queue: 'q', action_types: ['x'] },
        { ...minimal, executor_key: 'u', auth_token_file: 'absent' },
      ],
    }),
  ).toEqual([
    'executors[1].executor_key: already used by executors[0]',
    `executors[3].auth_token_file: ${join(folder, 'absent')} cannot be read`,
  ]);
});

test('a file that is missing or no JSON is named', () => {
  expect(problems('{')).toEqual(['is not JSON']);
  expect(() => readRegistryFile(join(folder, 'none.json'), signer)).toThrow(RegistryFileError);
  expect(() => readRegistryFile(join(folder, 'none.json'), signer)).toThrow(/none\.json cannot be used/);
});
