/** One place writes states, and one attempt is all that a submit has. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Phase } from '../../domain/messages.ts';
import {
  LOCAL_OPTIONS,
  phaseOptions,
  SUBMIT_TRANSFER_OPTIONS,
  teamOptions,
} from '../../workflows/activity-options.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** The program itself; tests and the embedded stack are not what runs in production. */
const FOLDERS = [
  'activities',
  'api',
  'clients',
  'domain',
  'executors',
  'platform',
  'service',
  'signers',
  'store',
  'tools',
  'venues',
  'workflows',
];
const THE_WRITER = 'store/transition.ts';
const THE_WRITER_OF_TRANSFERS = 'store/capital-transfer-steps.ts';

interface Rule {
  readonly what: string;
  readonly pattern: RegExp;
}

/**
 * Ways to write a state beside the one function; each would pass a compiler and miss timeline,
 * audit and locks.
 */
const OTHER_WRITES: readonly Rule[] = [
  {
    what: 'SQL that sets a state',
    pattern:
      /\bSET\s(?:(?!\bWHERE\b)[^`;])*?\b(?:request_state|approval_status|reservation_status|(?<![\w.])state)\s*=(?!=)/,
  },
  {
    what: 'SQL that inserts movements, nodes or transfers',
    pattern: /INSERT\s+INTO\s+(?:movements|movement_nodes|capital_transfers)\b/i,
  },
  {
    what: 'SQL that deletes movements or nodes',
    pattern: /DELETE\s+FROM\s+(?:movements|movement_nodes|timeline_events)\b/i,
  },
  {
    what: "Prisma's own writers of movements and nodes",
    pattern:
      /\.(?:movement|movementNode|capitalTransfer)\s*\.\s*(?:create|createMany|createManyAndReturn|update|updateMany|updateManyAndReturn|upsert|delete|deleteMany)\b/,
  },
  { what: 'a call of the database function', pattern: /\bapply_transition\s*\(/ },
  { what: 'a call of the function for transfers', pattern: /\bapply_transfer_step\s*\(/ },
];

function sources(): Map<string, string> {
  const found = new Map<string, string>([['main.ts', readFileSync(join(ROOT, 'main.ts'), 'utf8')]]);
  for (const folder of FOLDERS.filter((each) => existsSync(join(ROOT, each)))) {
    const names = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
    for (const name of names.filter((each) => each.endsWith('.ts')))
      found.set(`${folder}/${name}`, readFileSync(join(ROOT, folder, name), 'utf8'));
  }
  return found;
}

function writers(rules: readonly Rule[], files: ReadonlyMap<string, string>): string[] {
  return [...files].flatMap(([file, text]) =>
    rules.filter(({ pattern }) => pattern.test(text)).map(({ what }) => `${file}: ${what}`),
  );
}

test('store/transition.ts, and for transfers store/capital-transfer-steps.ts, is the only writer of a state', () => {
  const files = sources();
  expect(files.size).toBeGreaterThan(100);
  const others = new Map(
    [...files].filter(([file]) => file !== THE_WRITER && file !== THE_WRITER_OF_TRANSFERS),
  );
  expect(writers(OTHER_WRITES, others)).toEqual([]);
  expect(writers(OTHER_WRITES, files).sort()).toEqual([
    `${THE_WRITER_OF_TRANSFERS}: a call of the function for transfers`,
    `${THE_WRITER}: a call of the database function`,
  ]);
});

test('the search would find another writer', () => {
  const bad = [
    'db.$executeRaw`UPDATE movements SET updated_at = now(), request_state = ${next} WHERE movement_id = ${id}`',
    "db.$executeRaw`UPDATE movement_nodes SET state = 'READY'`",
    'await tx.movementNode.updateMany({ where, data: { state } })',
    'db.movement.update({ data: { request_state } })',
    'INSERT INTO movement_nodes (movement_id) VALUES (1)',
  ];
  for (const text of bad)
    expect({ text, found: writers(OTHER_WRITES, new Map([['x.ts', text]])).length }).toEqual({
      text,
      found: 1,
    });
  const good =
    'UPDATE commands SET wakes = wakes + 1; UPDATE movements SET swept_at = now() WHERE request_state = 1';
  expect(writers(OTHER_WRITES, new Map([['x.ts', good]]))).toEqual([]);
});

test('in the database the states of movements and transfers are written by the functions that change and create them', () => {
  const folder = join(ROOT, 'prisma', 'migrations');
  const names = readdirSync(folder).filter((name) => /^\d/.test(name));
  const sql = names
    .map((name) => readFileSync(join(folder, name, 'migration.sql'), 'utf8'))
    .join('\n');
  const functions = [
    ...sql.matchAll(/CREATE (?:OR REPLACE )?FUNCTION (\w+)\([\s\S]*?\$\$([\s\S]*?)\$\$/g),
  ];
  const writing = functions.filter(([, , body = '']) =>
    // Behind WHERE a state is only compared.
    /UPDATE (?:movements|movement_nodes|capital_transfers) SET(?:(?!\bWHERE\b)[^;])*\b(?:request_)?state =|INSERT INTO (?:movement(?:s|_nodes)|capital_transfers)\b/.test(
      body,
    ),
  );
  expect(functions.length).toBeGreaterThan(10);
  expect(new Set(writing.map(([, name]) => name))).toEqual(
    new Set(['apply_transition', 'create_movement', 'apply_transfer_step', 'create_transfer']),
  );
});

describe('activity options', () => {
  const phases: readonly Phase[] = ['preflight', 'prepare', 'submit', 'observe', 'recover'];

  test('submit has exactly one attempt', () => {
    expect(phaseOptions('submit', 'pay').retry).toEqual({ maximumAttempts: 1 });
  });

  test('so has each call of a team’s own worker, and the send of a capital transfer', () => {
    for (const phase of [...phases, 'cancel'] as const)
      expect(teamOptions(phase, 'pay', 'a-team', 5_000).retry).toEqual({ maximumAttempts: 1 });
    expect(SUBMIT_TRANSFER_OPTIONS.retry).toEqual({ maximumAttempts: 1 });
  });

  test('every phase beats, so that a dead worker is noticed in seconds', () => {
    for (const phase of phases)
      expect({ phase, heartbeat: phaseOptions(phase, 'pay').heartbeatTimeout }).toEqual({
        phase,
        heartbeat: '10 seconds',
      });
  });

  test('every other phase repeats without limit: what limits it is counted in the database', () => {
    for (const phase of phases.filter((each) => each !== 'submit')) {
      expect({ phase, most: phaseOptions(phase, 'pay').retry?.maximumAttempts }).toEqual({
        phase,
        most: undefined,
      });
    }
    expect(LOCAL_OPTIONS.retry?.maximumAttempts).toBeUndefined();
  });

  test('each is named by its node and phase in the Temporal UI', () => {
    expect(phases.map((phase) => phaseOptions(phase, 'pay').summary)).toEqual(
      phases.map((phase) => `pay · ${phase}`),
    );
  });
});
