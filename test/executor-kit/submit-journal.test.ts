import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { built } from '../../dev/bootstrap/programs.mjs';
import { openJournal } from '../../executor-kit/submit-journal.ts';

jest.setTimeout(60_000);

let folder: string;
let file: string;
let count = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-'));
});
beforeEach(() => {
  file = join(folder, `new-${(count += 1)}`, 'journal.jsonl');
});
afterAll(() => rmSync(folder, { recursive: true }));

test('what was written is there after the next opening, in its last state', async () => {
  const first = await openJournal(file);
  first.begin('a', { amount: '1' });
  first.update('a', { state: 'ACCEPTED', external_ref: 'r1' });
  first.begin('b', { amount: '2' });
  first.close();
  const second = await openJournal(file);
  expect(second.get('a')).toMatchObject({
    state: 'ACCEPTED',
    external_ref: 'r1',
    intention: { amount: '1' },
  });
  expect(second.entries().map(({ key, state }) => `${key} ${state}`)).toEqual([
    'a ACCEPTED',
    'b INTENDED',
  ]);
  second.close();
});

test('the key is on disk before begin returns', async () => {
  const journal = await openJournal(file);
  journal.begin('a', { amount: '1' });
  expect(readFileSync(file, 'utf8')).toMatch(/"key":"a","state":"INTENDED"/);
  journal.close();
});

test('a known key is returned as it stands, whatever the order of its fields, and refused for anything else', async () => {
  const journal = await openJournal(file);
  journal.begin('a', { amount: '1', to: 'x' });
  journal.update('a', { state: 'ACCEPTED', external_ref: 'r1' });
  expect(journal.begin('a', { to: 'x', amount: '1' })).toMatchObject({ external_ref: 'r1' });
  expect(() => journal.begin('a', { to: 'y', amount: '1' })).toThrow('used for something else');
  expect(readFileSync(file, 'utf8').split('\n').length - 1).toBe(2);
  journal.close();
});

test('final states and references do not change, and no state goes back', async () => {
  const journal = await openJournal(file);
  journal.begin('a', {});
  journal.update('a', { state: 'ACCEPTED', external_ref: 'r1' });
  expect(() => journal.update('a', { external_ref: 'r2' })).toThrow(
    'reference of an entry cannot change',
  );
  expect(() => journal.update('a', { state: 'INTENDED' })).toThrow('cannot become INTENDED');
  journal.update('a', { state: 'COMPLETED' });
  expect(() => journal.update('a', { state: 'FAILED' })).toThrow('cannot become FAILED');
  expect(() => journal.update('b', { state: 'FAILED' })).toThrow('call begin');
  expect(journal.get('a')?.state).toBe('COMPLETED');
  journal.close();
});

test('a last line that was cut off is dropped, and the next one is whole', async () => {
  const first = await openJournal(file);
  first.begin('a', {});
  first.close();
  appendFileSync(file, '{"key":"b","sta');
  const second = await openJournal(file);
  expect(second.entries().map(({ key }) => key)).toEqual(['a']);
  second.begin('c', {});
  second.close();
  const third = await openJournal(file);
  expect(third.entries().map(({ key }) => key)).toEqual(['a', 'c']);
  third.close();
});

test('a damaged line stops the start, and leaves the file free for the next', async () => {
  (await openJournal(file)).close();
  appendFileSync(file, 'rubbish\n');
  await expect(openJournal(file)).rejects.toThrow('line 1 is not JSON');
  await expect(openJournal(file, { lockWaitMs: 0 })).rejects.toThrow('line 1 is not JSON');
});

test('work for one key runs one after the other, for different keys at once, and a failure blocks no other work', async () => {
  const journal = await openJournal(file);
  const order: string[] = [];
  const work = (key: string, name: string, ms: number) =>
    journal.exclusively(key, async () => {
      order.push(`${name} begins`);
      await sleep(ms);
      order.push(`${name} ends`);
      if (name === 'fails') throw new Error('on purpose');
    });
  const failing = work('a', 'fails', 30);
  const all = [failing.catch(() => undefined), work('a', 'second', 1), work('b', 'other', 1)];
  await Promise.all(all);
  expect(order.indexOf('second begins')).toBeGreaterThan(order.indexOf('fails ends'));
  expect(order.indexOf('other ends')).toBeLessThan(order.indexOf('fails ends'));
  await expect(failing).rejects.toThrow('on purpose');
  journal.close();
});

test('a second process cannot open it, until the first is killed', async () => {
  const example = [built('executor-http'), '--port', '0', '--data', dirname(file)];
  const child = spawn(process.execPath, example, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(child.stdout, 'data');
    await expect(openJournal(file, { lockWaitMs: 0 })).rejects.toThrow('another process is using');
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  (await openJournal(file)).close();
});
