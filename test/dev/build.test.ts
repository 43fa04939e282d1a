/**
 * What is built is what the sources say now, wherever the project lies, and it is made again only
 * where they changed.
 */
import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { programsOf } from '../../dev/bootstrap/build.mjs';
import { built } from '../../dev/bootstrap/programs.mjs';
import { ROOT } from '../../dev/stack/ports.ts';

const PROGRAMS = { word: 'deep/word.ts', other: 'other.ts' };
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'built-'));
  write('package.json', '{"type":"module"}');
  write(
    'deep/word.ts',
    `import { readFileSync } from 'node:fs';
    import { word } from '../part.ts';
    const later = await import('../later.ts');
    class Named {}
    const beside: string[] = [readFileSync(new URL('../beside.txt', import.meta.url), 'utf8'),
      readFileSync(import.meta.dirname + '/../beside.txt', 'utf8')];
    console.log(JSON.stringify({ word, later: later.word, beside, argv: process.argv.slice(2), name: new Named().constructor.name }));
    if (process.argv[2] === 'fail') throw new Error('on purpose');`,
  );
  write('other.ts', "import { word } from './part.ts';\nconsole.log(JSON.stringify({ word }));\n");
  write('beside.txt', 'beside');
  write('part.ts', "export const word: string = 'first';\n");
  write('later.ts', "export const word: string = 'late';\n");
});
afterEach(() => rmSync(root, { recursive: true }));

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

/** As every command does before it starts a program. */
async function build(): Promise<boolean> {
  const programs = programsOf(root, PROGRAMS);
  if (programs.isUpToDate()) return false;
  await programs.make();
  return true;
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...args], { timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

async function said(): Promise<Record<string, unknown>> {
  const { stdout, stderr } = await run(join(root, 'dist', 'word.js'), 'a', '--b', '');
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Record<string, unknown>;
}

test('a program sees its arguments, its names and what lies beside its source, also where the project is moved to', async () => {
  await build();
  const expected = {
    word: 'first',
    later: 'late',
    beside: ['beside', 'beside'],
    argv: ['a', '--b', ''],
    name: 'Named',
  };
  expect(await said()).toEqual(expected);
  const moved = `${root}-moved`;
  renameSync(root, moved);
  root = moved;
  expect(await said()).toEqual(expected);
  expect(await build()).toBe(false);
});

test('what it throws names the line of the source and fails the process', async () => {
  await build();
  const { code, stderr } = await run(join(root, 'dist', 'word.js'), 'fail');
  expect(code).toBe(1);
  expect(stderr).toContain('on purpose');
  expect(stderr).toContain(`${join(root, 'deep', 'word.ts')}:8`);
});

test('each change of a source, also back to what was, is built, and nothing else is', async () => {
  const words = async (): Promise<readonly unknown[]> => {
    const built = await build();
    const { word, later } = await said();
    return [built, word, later];
  };
  expect(await words()).toEqual([true, 'first', 'late']);
  expect(await words()).toEqual([false, 'first', 'late']);
  write('part.ts', "export const word: string = 'second';\n");
  expect(await words()).toEqual([true, 'second', 'late']);
  write('later.ts', "export const word: string = 'later';\n");
  expect(await words()).toEqual([true, 'second', 'later']);
  write('part.ts', "export const word: string = 'first';\n");
  expect(await words()).toEqual([true, 'first', 'later']);
});

test('what is missing of it is made again', async () => {
  await build();
  const dist = join(root, 'dist');
  for (const name of readdirSync(dist)) {
    rmSync(join(dist, name));
    expect([name, await build()]).toEqual([name, true]);
  }
  expect(await said()).toMatchObject({ word: 'first' });
});

test('several builds at once leave whole files, and a running program finds the pieces that it was built with', async () => {
  await build();
  const dist = join(root, 'dist');
  const before = readdirSync(dist);
  write('part.ts', "export const word: string = 'second';\n");
  const module = pathToFileURL(join(ROOT, 'dev', 'bootstrap', 'build.mjs')).href;
  const make = `import { programsOf } from ${JSON.stringify(module)};
    await programsOf(${JSON.stringify(root)}, ${JSON.stringify(PROGRAMS)}).make();`;
  const ends = await Promise.all([1, 2, 3].map(() => run('--input-type=module', '-e', make)));
  expect(ends).toEqual([1, 2, 3].map(() => ({ code: 0, stdout: '', stderr: '' })));
  expect(await said()).toMatchObject({ word: 'second' });
  const after = readdirSync(dist);
  expect(after).toEqual(expect.arrayContaining(before));
  expect(
    after.filter(
      (name) =>
        !/^((word|other)-code|shared-\w+)\.js(\.map)?$|^(word|other)\.js$|\.made-from\.json$/.test(
          name,
        ),
    ),
  ).toEqual([]);
  const note = JSON.parse(readFileSync(join(dist, 'programs.made-from.json'), 'utf8')) as {
    readonly made: readonly string[];
  };
  for (const name of note.made) expect(statSync(join(dist, name)).size).toBeGreaterThan(0);
});

test('the service refuses an unknown role in plain words', async () => {
  const ended = await run(built('main'), 'nothing');
  expect(ended).toEqual({
    code: 1,
    stdout: '',
    stderr: 'unknown role "nothing": use all, api, worker\n',
  });
});

test('the service needs no file beside it but those that the operations guide names', async () => {
  const [, named = ''] =
    /It needs (.+?) and the packages of/s.exec(
      readFileSync(join(ROOT, 'docs/operations.md'), 'utf8'),
    ) ?? [];
  const files = [...named.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
  expect(files).toContain('dist/');
  for (const file of files) cpSync(join(ROOT, file), join(root, file), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const ended = await run(join(root, 'dist', 'main.js'));
  expect(ended.stderr).toMatch(
    /^The settings cannot be used:\n {2}- SVC_DATABASE_URL: must be set/,
  );
});
