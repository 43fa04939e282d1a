/**
 * `npm run breaks -- --seed <text> --count <number>`: breaks one token of guarding code at a time,
 * in a copy of the project, and runs the tests that are most likely to notice, for at most two
 * minutes a break. Lists the survivors with their places and ends with `N noticed, M survived`.
 * What was tried stands in the data folder by seed, so that a run that was broken off goes on. The
 * seed is the commit's hash when left out; `--only <file>` draws from one file, `--list` shows what
 * is drawn. Exit status: 0 when the share of `--at-least` (0.9) was noticed.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandsEnded, signalCommands } from '../../dev/bootstrap/command.mjs';
import { takeSignals } from '../../dev/stack/foreground.ts';
import { readDevSettings, ROOT } from '../../dev/stack/ports.ts';
import { findTemporalServer } from '../../dev/stack/temporal-binary.ts';
import { copyProject, put, removeCopy, runJest } from '../rules/copy.ts';
import { projectOf } from '../rules/rule.ts';
import { broken, idOf, isGuarded, placeOf, type Break } from './break.ts';
import { breaksOf, draw } from './draw.ts';
import { EQUIVALENT } from './equivalent.ts';
import { likelyTests, usersOf, type Texts } from './likely.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    count: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '120' },
    only: { type: 'string' },
    list: { type: 'boolean', default: false },
    'at-least': { type: 'string', default: '0.9' },
  },
});
const wholeNumber = (name: 'count' | 'seconds'): number => {
  const number = Number(values[name]);
  if (!Number.isInteger(number) || number < 1)
    throw new Error(`--${name} takes a whole number from 1, not "${values[name]}"`);
  return number;
};
const count = wholeNumber('count');
const mostMs = wholeNumber('seconds') * 1_000;
const share = Number(values['at-least']);
/** Breaks that are tried at a time, each in a copy of its own. */
const COPIES = 2;
/** Test files of one run of jest: the first run holds the likeliest. */
const FILES = 6;
type Verdict = 'noticed' | 'survived' | 'equivalent';
interface Tried {
  readonly id: string;
  readonly verdict: Verdict;
  readonly by: string;
  readonly seconds: number;
}

function git(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args[0] ?? ''} failed: ${stderr}`);
  return stdout;
}

function readTexts(): Texts {
  const files = git('ls-files', '--cached', '--others', '--exclude-standard').split('\n');
  const read = files.filter((name) => /\.(ts|sql)$/.test(name) && existsSync(join(ROOT, name)));
  return new Map(read.map((name) => [name, readFileSync(join(ROOT, name), 'utf8')]));
}

const foreground = takeSignals(() => signalCommands('SIGKILL'));
foreground.signal.addEventListener('abort', () => signalCommands('SIGTERM'));
const seed = values.seed ?? git('rev-parse', 'HEAD').trim();
const texts = readTexts();
const users = usersOf(texts);
const all = [...texts]
  .filter(([file]) => (values.only === undefined ? isGuarded(file) : file === values.only))
  .flatMap(([file, text]) => breaksOf(file, text));
const drawn = draw(all, seed, count);
const place = (slip: Break): string =>
  `${placeOf(slip, texts.get(slip.file) ?? '')} ${slip.kind}: ${short(slip.find)} → ${short(slip.replace)}`;
const short = (text: string): string => {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 59)}…` : line || '(nothing)';
};

/** The tests in the order in which they are run: few at first, each project by itself. */
function runsFor(slip: Break): readonly (readonly string[])[] {
  const likely = likelyTests(slip, texts, users);
  const of = (project: string): readonly string[] =>
    likely.filter((file) => projectOf(file) === project);
  return [of('unit').slice(0, FILES), of('stack').slice(0, 3), of('unit').slice(FILES, 3 * FILES)]
    .concat([of('faults').slice(0, 2)])
    .filter(({ length }) => length > 0);
}

async function tryBreak(copy: string, slip: Break): Promise<Omit<Tried, 'id' | 'seconds'>> {
  const known = EQUIVALENT.find(({ id }) => id === idOf(slip));
  if (known !== undefined) return { verdict: 'equivalent', by: known.why };
  const whole = texts.get(slip.file) ?? '';
  put(copy, slip.file, broken(slip, whole));
  const deadline = Date.now() + mostMs;
  try {
    for (const files of runsFor(slip)) {
      const left = deadline - Date.now();
      if (left < 5_000 || foreground.status !== null) break;
      const project = projectOf(files[0] ?? '');
      const run = await runJest(
        copy,
        ['--selectProjects', project, '--bail', '--', ...files],
        left,
      );
      if (run.failed) return { verdict: 'noticed', by: firstFailure(run.output) };
    }
    return { verdict: 'survived', by: '' };
  } finally {
    put(copy, slip.file, whole);
  }
}

function firstFailure(output: string): string {
  return /^\s*● (.*)$/m.exec(output)?.[1] ?? '';
}

/** What was tried under this seed, also in runs that were broken off. */
function openRecord(): { readonly before: ReadonlyMap<string, Tried>; add(tried: Tried): void } {
  const file = join(readDevSettings().dataDir, 'breaks', `${seed.replace(/\W/g, '_')}.jsonl`);
  mkdirSync(dirname(file), { recursive: true });
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  const tried = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Tried);
  return {
    before: new Map(tried.map((each) => [each.id, each])),
    add: (each) => appendFileSync(file, `${JSON.stringify(each)}\n`),
  };
}

async function tryAll(): Promise<readonly (readonly [Break, Tried])[]> {
  await findTemporalServer();
  const record = openRecord();
  const waiting = [...drawn];
  const results: (readonly [Break, Tried])[] = [];
  const work = async (): Promise<void> => {
    const copy = copyProject();
    try {
      for (let slip = waiting.shift(); slip !== undefined; slip = waiting.shift()) {
        const id = idOf(slip);
        const started = Date.now();
        const known = record.before.get(id);
        const tried = known ?? {
          id,
          ...(await tryBreak(copy, slip)),
          seconds: Math.round((Date.now() - started) / 1_000),
        };
        if (foreground.status !== null) return;
        if (known === undefined) record.add(tried);
        results.push([slip, tried]);
        const by = tried.by === '' ? '' : ` (${tried.by})`;
        process.stdout.write(`${tried.verdict.padEnd(10)} ${place(slip)}${by}\n`);
      }
    } finally {
      if (foreground.status !== null) await commandsEnded(15_000);
      removeCopy(copy);
    }
  };
  await Promise.all(Array.from({ length: Math.min(COPIES, drawn.length) }, work));
  return results;
}

if (values.list) {
  for (const slip of drawn) process.stdout.write(`${place(slip)}\n`);
  process.exit(0);
}
const results = await tryAll();
const having = (verdict: Verdict) => results.filter(([, tried]) => tried.verdict === verdict);
const [noticed, survived] = [having('noticed'), having('survived')];
if (foreground.status === null) {
  if (survived.length > 0) process.stdout.write('\nSurvivors:\n');
  for (const [slip] of survived) process.stdout.write(`  ${place(slip)}\n`);
  process.stdout.write(
    `\n${String(noticed.length)} noticed, ${String(survived.length)} survived, ${String(having('equivalent').length)} equivalent (seed ${seed})\n`,
  );
}
const judged = noticed.length + survived.length;
process.exit(foreground.status ?? (judged === 0 || noticed.length >= share * judged ? 0 : 1));
