/** Histories of real runs replay against the workflow code as it is now. */
import { workflowBundle } from '../../activities/bundle.ts';
import { compatibleBundle, incompatibleBundle } from '../support/changed-bundle.ts';
import { corpusFiles, readCorpus, recordingIn as recording, replayRecordings } from './corpus.ts';
import {
  CONTINUED,
  forbiddenIn,
  historyFile,
  readable,
  SCENARIOS,
  scenarioOf,
  unnamed,
  type Recording,
} from './scenarios.ts';

const files = corpusFiles();
const { code } = workflowBundle();

const replay = (
  recordings: ReadonlyMap<string, Recording>,
  bundle = code,
): Promise<Record<string, string>> => replayRecordings(recordings, bundle);

const all = readCorpus;

/** Those that this release has recorded. */
const ofThisRelease = (): ReadonlyMap<string, Recording> =>
  new Map(SCENARIOS.map(({ name }) => [historyFile(name), recording(historyFile(name))]));

/** The first event that has these attributes, changed in place. */
function change(
  recorded: Recording,
  attributes: string,
  by: (attributes: Record<string, unknown>) => void,
): Recording {
  const copy = structuredClone(recorded);
  for (const run of copy.runs) {
    for (const event of run.history.events) {
      const found: unknown = Reflect.get(event, attributes);
      if (typeof found !== 'object' || found === null) continue;
      by(found as Record<string, unknown>);
      return copy;
    }
  }
  throw new Error(`no event has ${attributes}`);
}

test('every scenario has a history of this release, and every history is of a scenario', () => {
  const names: readonly string[] = SCENARIOS.map(({ name }) => name);
  expect(files).toEqual(expect.arrayContaining(names.map(historyFile)));
  for (const file of files) {
    expect(names).toContain(scenarioOf(file));
    expect(recording(file).scenario).toBe(scenarioOf(file));
  }
});

test.each(SCENARIOS)('the history of $name closed as it should', ({ name, ends }) => {
  const { runs } = recording(historyFile(name));
  const closed = runs.map(({ history }) => {
    const last = history.events.at(-1);
    const text = readable(last);
    return text.includes(`EVENT_TYPE_WORKFLOW_EXECUTION_${CONTINUED}`)
      ? CONTINUED
      : /"request_state":"([A-Z_]+)"/.exec(text)?.[1];
  });
  expect(closed).toEqual(ends);
});

test('every history replays', async () => {
  expect(await replay(all())).toEqual({});
}, 120_000);

test('every history replays with every setting of a process, and no tracer is in it', async () => {
  const configured = workflowBundle({ traceHeaders: true, encodeFailures: true, callStacks: true });
  expect(configured.code).not.toBe(code);
  expect(configured.code).not.toMatch(/^\/\*{3}\/ "[^"]*opentelemetry/m);
  expect(await replay(all(), configured.code)).toEqual({});
}, 120_000);

test('no history holds a secret, an address, an amount or where it was recorded', () => {
  for (const [file, recorded] of all())
    expect({
      file,
      found: forbiddenIn(readable(unnamed(recorded.runs))),
    }).toEqual({ file, found: [] });
  expect(
    forbiddenIn(
      'paid 41.7301 to 0x90F79bf6EB2c4f870365E785982E1f101E93b906 by 12@host from /tmp/x',
    ),
  ).toHaveLength(4);
});

test('the histories of this release replay in a build with other details', async () => {
  expect(await replay(ofThisRelease(), compatibleBundle(code))).toEqual({});
}, 120_000);

describe('a replay fails', () => {
  const file = historyFile('approve-and-complete');

  test('when a phase of the history is another one', async () => {
    const tampered = change(
      recording(file),
      'activityTaskScheduledEventAttributes',
      (attributes) => {
        attributes['activityType'] = { name: 'observe' };
      },
    );
    expect(await replay(new Map([[file, tampered]]))).toHaveProperty(
      [`${file}#1`],
      expect.stringMatching(/nondeterminism/i),
    );
  }, 240_000);

  test('when the first command of a movement is another one', async () => {
    const replays = ofThisRelease();
    const faults = await replay(replays, incompatibleBundle(code));
    // Runs of capital transfers have workflow code of their own.
    const movements = [...replays].flatMap(([name, { runs }]) =>
      scenarioOf(name)?.startsWith('capital-transfer') === true
        ? []
        : runs.map((_, index) => `${name}#${String(index + 1)}`),
    );
    expect(Object.keys(faults).sort()).toEqual(movements.sort());
    for (const fault of Object.values(faults)) expect(fault).toMatch(/nondeterminism|TMPRL1100/i);
  }, 240_000);

  /** Replays these files alone, without a part of the workflow code; returns which fail. */
  const without = async (
    part: RegExp,
    instead: string,
    names: readonly string[],
  ): Promise<readonly string[]> => {
    const changed = code.replace(part, instead);
    expect({ part, taken: changed !== code }).toEqual({ part, taken: true });
    const replays = new Map(names.map((name) => [name, recording(name)]));
    return Object.keys(await replay(replays, changed));
  };

  test('when nothing is waited for before a send is made again', async () => {
    const sentAgain = historyFile('sent-again');
    const part = /\(0, ?\w+\.sleep\)\(Math\.max\(/;
    const faults = await without(part, 'Promise.resolve(Math.max(', [sentAgain, file]);
    expect(faults).toEqual([`${sentAgain}#1`]);
  }, 240_000);

  test('when a run no longer continues as new while it waits', async () => {
    const ended = ['continued-as-new', 'left-its-build', 'restarted-for-a-build'];
    const of = files.filter((each) => ended.includes(scenarioOf(each) ?? ''));
    const part = /settled !== before \|\| run\.leaves\(\)/;
    const faults = await without(part, 'settled !== before', [...of, file]);
    expect(faults).toEqual(of.map((each) => `${each}#1`));
  }, 240_000);

  test('when nothing looks at an unknown node', async () => {
    const faults = await without(
      /(['"])ask-about-unknown\1\)\)\s*this\.ask\(node\)/,
      '$1ask-about-unknown$1)) void node',
      [historyFile('unknown-heals-by-itself')],
    );
    expect(faults).toEqual([`${historyFile('unknown-heals-by-itself')}#1`]);
  }, 240_000);

  const passed = historyFile('mint-past-failed-check');

  test.each([
    ['for runs of before', 'false', '0.4.0-mint-past-failed-check.json'],
    ['for runs of this release', 'true', passed],
  ])(
    'when a mint to which no path leads is decided differently %s',
    async (_whose, skips, noticed) => {
      const part = /\(view\.conduct \?\? 5\) < 5/;
      const both = ['0.4.0-mint-past-failed-check.json', passed];
      expect(await without(part, skips, [...both, file])).toEqual([`${noticed}#1`]);
    },
    240_000,
  );

  test('when a node behind such a mint starts', async () => {
    const faults = await without(/= asFired \? ['"]fired['"] : wayOnFrom\([^)]*\)/, "= 'fired'", [
      passed,
      file,
    ]);
    expect(faults).toEqual([`${passed}#1`]);
  }, 240_000);

  test('when a cancel keeps back a mint', async () => {
    const cancelled = historyFile('mint-after-cancel-retried');
    const part = /owed\.has\(node\.node_key\) \|\| (\(?node\.state === .BLOCKED. && incoming\()/;
    // The second run has loaded a mint that the retry had made ready.
    expect(await without(part, '$1', [cancelled, file])).toEqual([`${cancelled}#1`]);
  }, 240_000);

  test('when the workflow code decides differently', async () => {
    // A node is no longer one activity.
    const part = /\w+\.chained === true && step === /;
    // A movement that was rejected never came so far, and one of before had no such activity.
    const others = [historyFile('reject'), '0.3.0-approve-and-complete.json'];
    expect(await without(part, 'false && step === ', [file, ...others])).toEqual([`${file}#1`]);
  }, 240_000);

  test('when the workflow code decides differently for runs of before', async () => {
    // prepare is left out: what every movement did after its preflight.
    const faults = await without(
      /(node\.node_kind === ['"]observe['"]\s*\?\s*['"]observe['"]\s*:\s*)['"]prepare['"]/,
      "$1'submit'",
      ['0.2.0-approve-and-complete.json', '0.2.0-reject.json'],
    );
    expect(faults).toEqual(['0.2.0-approve-and-complete.json#1']);
  }, 240_000);
});
