/** Histories of real runs replay against the workflow code as it is now. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { workflowBundle } from '../../activities/bundle.ts';
import { faultsOf, replayAll } from '../support/replays.ts';
import {
  CONTINUED,
  forbiddenIn,
  fromPlain,
  HISTORIES,
  historyFile,
  readable,
  SCENARIOS,
  scenarioOf,
  unnamed,
  type Recording,
} from './scenarios.ts';

const files = readdirSync(HISTORIES).sort();
const { code } = workflowBundle();

function recording(file: string): Recording {
  return JSON.parse(readFileSync(join(HISTORIES, file), 'utf8')) as Recording;
}

/** What went wrong in each replay, by `<file>#<run>`. */
async function replay(
  recordings: ReadonlyMap<string, Recording>,
  bundle = code,
): Promise<Record<string, string>> {
  const names: string[] = [];
  const histories = [...recordings].flatMap(([file, { runs }]) =>
    runs.map(({ workflow_id, history }, index) => {
      names.push(`${file}#${index + 1}`);
      return { workflowId: workflow_id, history: fromPlain(history) };
    }),
  );
  const found = await replayAll(bundle, histories);
  expect(found).toHaveLength(names.length);
  return faultsOf(names, found);
}

const all = (): Map<string, Recording> => new Map(files.map((file) => [file, recording(file)]));

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

test.each([{ traceHeaders: true }, { encodeFailures: true }, { callStacks: true }])(
  'every history replays in a process that asks for %j, and no tracer is in it',
  async (options) => {
    const configured = workflowBundle(options);
    expect(configured.code).not.toBe(code);
    expect(configured.code).not.toMatch(/^\/\*{3}\/ "[^"]*opentelemetry/m);
    expect(await replay(all(), configured.code)).toEqual({});
  },
  120_000,
);

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

  const without = async (part: RegExp, instead: string): Promise<readonly string[]> => {
    const changed = code.replace(part, instead);
    expect({ part, taken: changed !== code }).toEqual({ part, taken: true });
    return Object.keys(await replay(all(), changed));
  };

  test('when nothing is waited for before a send is made again', async () => {
    const faults = await without(/\(0, ?\w+\.sleep\)\(Math\.max\(/, 'Promise.resolve(Math.max(');
    expect(faults).toContain(`${historyFile('sent-again')}#1`);
    expect(faults).not.toContain(`${file}#1`);
  }, 240_000);

  test('when a run no longer continues as new while it waits', async () => {
    const faults = await without(/settled !== before \|\| run\.leaves\(\)/, 'settled !== before');
    const of = files.filter((each) => scenarioOf(each) === 'continued-as-new');
    expect(faults).toEqual(of.map((each) => `${each}#1`));
  }, 240_000);

  test('when nothing looks at an unknown node', async () => {
    const faults = await without(
      /(['"])ask-about-unknown\1\)\)\s*this\.ask\(node\)/,
      '$1ask-about-unknown$1)) void node',
    );
    expect(faults).toContain(`${historyFile('unknown-heals-by-itself')}#1`);
  }, 240_000);

  test('when the workflow code decides differently', async () => {
    // A node is no longer one activity.
    const faults = await without(/\w+\.chained === true && step === /, 'false && step === ');
    expect(faults).toContain(`${file}#1`);
    // A movement that was rejected never came so far, and one of before had no such activity.
    expect(faults).not.toContain(`${historyFile('reject')}#1`);
    expect(faults).not.toContain('0.3.0-approve-and-complete.json#1');
  }, 240_000);

  test('when the workflow code decides differently for runs of before', async () => {
    // prepare is left out: what every movement did after its preflight.
    const faults = await without(
      /(node\.node_kind === ['"]observe['"]\s*\?\s*['"]observe['"]\s*:\s*)['"]prepare['"]/,
      "$1'submit'",
    );
    expect(faults).toContain('0.2.0-approve-and-complete.json#1');
    expect(faults).not.toContain('0.2.0-reject.json#1');
  }, 240_000);
});
