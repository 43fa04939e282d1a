/** A program that the launcher starts is the program of the present sources, and sees of itself what tsx would show it. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ROOT } from '../../dev/ports.ts';
import { programArgs } from '../../dev/program.ts';

const CACHE = join(ROOT, 'node_modules', '.cache', 'entries');
let folder: string;
let program: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'launched-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  program = join(folder, `${basename(folder)}.ts`);
  writeFileSync(
    program,
    `import { word } from './part.ts';
    const later = await import('./later.ts');
    class Named {}
    console.log(JSON.stringify({ word, later: later.word, argv: process.argv.slice(1), name: new Named().constructor.name,
      here: [import.meta.url, import.meta.dirname, import.meta.filename] }));
    if (process.argv[2] === 'fail') throw new Error('on purpose');`,
  );
  write('part', 'first');
  write('later', 'late');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  for (const name of made()) rmSync(join(CACHE, name), { recursive: true });
});

function made(): string[] {
  return readdirSync(CACHE).filter((name) => name.startsWith(basename(folder)));
}

function write(part: string, word: string): void {
  writeFileSync(join(folder, `${part}.ts`), `export const word: string = '${word}';\n`);
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...args], { cwd: ROOT, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

async function words(): Promise<readonly unknown[]> {
  const { stdout, stderr } = await run(programArgs(program));
  expect(stderr).toBe('');
  const { word, later } = JSON.parse(stdout) as Record<string, unknown>;
  return [word, later];
}

test('it sees the arguments, places and names that it sees through tsx', async () => {
  const launched = await run(programArgs(program, 'a', '--b', ''));
  expect(launched).toEqual(await run(['--import', 'tsx', program, 'a', '--b', '']));
  expect(launched).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(launched.stdout)).toMatchObject({ argv: [program, 'a', '--b', ''], name: 'Named', here: { 1: folder, 2: program } });
}, 60_000);

test('what it throws names the line of the source and fails the process', async () => {
  const { code, stderr } = await run(programArgs(program, 'fail'));
  expect(code).toBe(1);
  expect(stderr).toContain('on purpose');
  expect(stderr).toContain(`${program}:6`);
}, 60_000);

test('each change of a source, also back to what was, is in the next start', async () => {
  expect(await words()).toEqual(['first', 'late']);
  write('part', 'second');
  expect(await words()).toEqual(['second', 'late']);
  write('later', 'later');
  expect(await words()).toEqual(['second', 'later']);
  write('part', 'first');
  expect(await words()).toEqual(['first', 'later']);
  write('later', 'late');
  expect(await words()).toEqual(['first', 'late']);
}, 60_000);

test('what was made is used again, and made again where a piece of it is gone', async () => {
  await words();
  const [name = ''] = made();
  const before = readdirSync(join(CACHE, name));
  await words();
  expect(readdirSync(join(CACHE, name))).toEqual(before);
  const key = before.find((each) => each !== 'made-from.json') ?? '';
  rmSync(join(CACHE, name, key), { recursive: true });
  expect(await words()).toEqual(['first', 'late']);
  expect(readdirSync(join(CACHE, name))).toEqual(before);
}, 60_000);

test('several first starts at once all run, and leave one made program and no draft', async () => {
  const all = await Promise.all([words(), words(), words(), words()]);
  expect(all).toEqual(Array.from({ length: 4 }, () => ['first', 'late']));
  const [name = '', ...more] = made();
  expect(more).toEqual([]);
  expect(readdirSync(join(CACHE, name))).toHaveLength(2);
}, 60_000);

test('the service refuses an unknown role in the same words as through tsx', async () => {
  const launched = await run(programArgs('main.ts', 'nothing'));
  expect(launched).toEqual(await run(['--import', 'tsx', 'main.ts', 'nothing']));
  expect(launched).toMatchObject({ code: 1, stdout: '', stderr: 'unknown role "nothing": use all, api, worker\n' });
}, 60_000);
