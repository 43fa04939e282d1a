/**
 * Creates that come together share statements: each gets the answer that it gets alone, and no
 * movement is lost or made twice, whatever happens to the statement.
 */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import pg from 'pg';
import type { Database, SqlValue } from '../../prisma/client.ts';
import { PoolBusyError } from '../../prisma/pool.ts';
import { createMovement, type CreateOutcome, type NewMovement } from '../../store/movements.ts';
import { absentStandby } from '../support/absent-standby.ts';
import { storeBench, TEMPLATE, waitForLocks } from './support.ts';

const bench = storeBench();

/** Version 2 of the template, which is retired. */
const RETIRED = randomUUID();
beforeAll(async () => {
  await bench.db.sql`
    INSERT INTO plan_template_versions (template_id, template_key, version, name, graph_shape,
      approval_policy, risk_controls, completion_assurance, created_at, status, retired_at,
      retired_reason)
    VALUES (${RETIRED}::uuid, ${TEMPLATE.template_key}, 2, 'store', 'linear', '{}', '{}',
      'provider_completed', now(), 'retired', now(), 'a test')`;
});

type Kind = 'plain' | 'first' | 'second' | 'retired' | 'unstorable';

/** A create of strategy `run`; each index has its own amount. `first` and `second` are keyed. */
function movementOf(kind: Kind, index: number, run: string): NewMovement {
  const keyed = kind === 'first' || kind === 'second';
  const { plan, ...draft } = bench.draft({
    amount: String(index + 1),
    strategy_id: run,
    ...(keyed ? { idempotency_key: `${kind} ${run}` } : {}),
  });
  const made = { ...draft, auto_approve_result: null, audit: auditOf };
  if (kind === 'retired')
    return {
      ...made,
      plan: { ...plan, template: { ...plan.template, template_id: RETIRED, version: 2 } },
    };
  // A node's own part is stored under this name, so no plan may have it.
  const nodes = plan.nodes.map((each) => ({ ...each, left_out: ['amount'] }));
  return { ...made, plan: kind === 'unstorable' ? { ...plan, nodes } : plan };
}

const auditOf: NewMovement['audit'] = (movementId) => [
  {
    action: 'movement.create',
    entity_type: 'movement',
    entity_key: movementId,
    outcome: 'success',
  },
];

/** Plain creates with a key each. */
const keyedOf = (count: number, run: string): NewMovement[] =>
  Array.from({ length: count }, (_, index) => ({
    ...movementOf('plain', index, run),
    idempotency_key: `${String(index)} ${run}`,
  }));

interface Watched {
  readonly db: Database;
  /** How many creates each statement had, in the order of their starts. */
  readonly sizes: readonly number[];
  /** The most statements of several creates at the same time. */
  readonly most: () => number;
}

/** The database; `before` and `after` may fail a statement of so many creates. */
function watched(
  faults: {
    readonly before?: (creates: number) => void;
    readonly after?: (creates: number) => void;
  } = {},
): Watched {
  const sizes: number[] = [];
  let [now, most] = [0, 0];
  const run = async (size: number, send: () => Promise<unknown[]>): Promise<unknown[]> => {
    sizes.push(size);
    now += size > 1 ? 1 : 0;
    most = Math.max(most, now);
    try {
      faults.before?.(size);
      const rows = await send();
      faults.after?.(size);
      return rows;
    } finally {
      now -= size > 1 ? 1 : 0;
    }
  };
  const db = new Proxy(bench.db, {
    get(target, name) {
      if (name !== 'sql') return Reflect.get(target, name) as unknown;
      return (strings: TemplateStringsArray, ...values: SqlValue[]) => {
        const send = (): Promise<unknown[]> => target.sql(strings, ...values);
        if (!strings.join('').includes('create_movement(')) return send();
        const document: unknown = JSON.parse(String(values[0]));
        return run(Array.isArray(document) ? document.length : 1, send);
      };
    },
  });
  return { db, sizes, most: () => most };
}

const createAll = (
  db: Database,
  movements: readonly NewMovement[],
): Promise<PromiseSettledResult<CreateOutcome>[]> =>
  Promise.allSettled(movements.map((movement) => createMovement(db, movement)));

const coded = (code: string): Error => Object.assign(new Error('a fault'), { code });

interface Stored {
  readonly movement_id: string;
  readonly amount: string;
  readonly written: object;
}

/** What is stored of the movements of a run, by id. */
const storedOf = (run: string): Promise<Stored[]> =>
  bench.sql<Stored>(
    `SELECT m.movement_id::text AS movement_id, trim_scale(m.amount)::text AS amount,
       jsonb_build_object(
         'plans', (SELECT count(*) FROM movement_plans p WHERE p.movement_id = m.movement_id),
         'nodes', (SELECT count(*) FROM movement_nodes n WHERE n.movement_id = m.movement_id),
         'events', (SELECT jsonb_agg(e.sequence) FROM timeline_events e
           WHERE e.movement_id = m.movement_id),
         'audit', (SELECT count(*) FROM audit_events a
           WHERE a.entity_key = m.movement_id::text AND a.action = 'movement.create'),
         'commands', (SELECT jsonb_agg(c.command_id) FROM commands c
           WHERE c.movement_id = m.movement_id)) AS written
     FROM movements m WHERE m.strategy_id = $1 ORDER BY m.movement_id::text`,
    run,
  );

/** What should be stored: a movement for each create that was answered so, whole and once. */
function expectedOf(outcomes: readonly PromiseSettledResult<CreateOutcome>[]): Stored[] {
  return outcomes
    .flatMap((outcome, index): Stored[] => {
      if (outcome.status === 'rejected' || !outcome.value.created) return [];
      const { movement_id, command } = outcome.value;
      const commands = [command.command_id];
      const written = { plans: 1, nodes: 1, events: [1], audit: 1, commands };
      return [{ movement_id, amount: String(index + 1), written }];
    })
    .sort((a, b) => (a.movement_id < b.movement_id ? -1 : 1));
}

test('a statement has at most eight creates, at most four run at once, and one alone shares none', async () => {
  const run = randomUUID();
  const { db, sizes, most } = watched();
  const outcomes = await createAll(
    db,
    Array.from({ length: 40 }, (_, index) => movementOf('plain', index, run)),
  );
  expect([sizes, most()]).toEqual([[8, 8, 8, 8, 8], 4]);
  const stored = await storedOf(run);
  expect(stored).toHaveLength(40);
  expect(stored).toEqual(expectedOf(outcomes));
  await createMovement(db, movementOf('plain', 40, run));
  expect(sizes.slice(5)).toEqual([1]);
});

/** Most statements of eight have one that is refused, and some have none. */
const KINDS: readonly Kind[] = [
  ...Array.from({ length: 12 }, () => 'plain' as const),
  ...(['first', 'first', 'second', 'second', 'retired', 'unstorable'] as const),
];

test('each create gets the answer that it gets alone, whatever comes with it', async () => {
  const kindsOf = fc.array(fc.constantFrom(...KINDS), { minLength: 40, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(kindsOf, async (kinds) => {
      const run = randomUUID();
      const { db, sizes } = watched();
      const outcomes = await createAll(
        db,
        kinds.map((kind, index) => movementOf(kind, index, run)),
      );
      // A statement that was refused is not sent again.
      expect(sizes.filter((size) => size > 1)).toEqual([8, 8, 8, 8, 8]);
      const of = (wanted: Kind) => outcomes.filter((_, index) => kinds[index] === wanted);

      expect(of('plain')).toMatchObject(
        of('plain').map(() => ({ status: 'fulfilled', value: { created: true } })),
      );
      for (const key of ['first', 'second'] as const) {
        const values = of(key).map((each) => (each.status === 'fulfilled' ? each.value : null));
        const made = values.find((each) => each?.created);
        const repeat = { created: false, movement_id: made?.movement_id, request: {} };
        expect(values).toEqual(values.map((each) => (each === made ? made : repeat)));
      }
      expect(of('retired')).toMatchObject(
        of('retired').map(() => ({
          status: 'rejected',
          reason: {
            code: 'template_version_retired',
            context: {
              template_key: TEMPLATE.template_key,
              template_version: 2,
              latest_active_version: 1,
            },
          },
        })),
      );
      // Each refusal names its own movement.
      const refused = of('unstorable').map((each) =>
        each.status === 'rejected'
          ? /^the plan of movement (\S+) cannot be stored/.exec(String(each.reason.message))?.[1]
          : undefined,
      );
      expect(refused).not.toContain(undefined);
      expect(new Set(refused).size).toBe(refused.length);

      const keys = (['first', 'second'] as const).filter((key) => of(key).length > 0);
      const stored = await storedOf(run);
      expect(stored).toHaveLength(of('plain').length + keys.length);
      expect(stored).toEqual(expectedOf(outcomes));
    }),
    { numRuns: 15, endOnFailure: true },
  );
});

test('a cutover refuses what is new in a statement, and answers what is repeated', async () => {
  const run = randomUUID();
  const known = await createMovement(bench.db, movementOf('first', 0, run));
  await bench.sql("UPDATE cutover SET mode = 'frozen'");
  try {
    const { db, sizes } = watched();
    const kinds = ['plain', 'first', 'plain', 'first'] as const;
    const outcomes = await createAll(
      db,
      kinds.map((kind, index) => movementOf(kind, index, run)),
    );
    const refused = {
      status: 'rejected',
      reason: { code: 'cutover_mode_active', context: { mode: 'frozen' } },
    };
    const value = { created: false, movement_id: known.movement_id };
    const repeated = { status: 'fulfilled', value };
    expect(outcomes).toMatchObject([refused, repeated, refused, repeated]);
    expect(sizes).toEqual([4, 1, 1, 1, 1]);
    expect(await storedOf(run)).toHaveLength(1);
  } finally {
    await bench.sql("UPDATE cutover SET mode = 'normal'");
  }
});

test('two processes that create the same keys in opposite orders never wait in a circle', async () => {
  for (let round = 0; round < 20; round += 1) {
    const run = randomUUID();
    const [one, other] = [watched(), watched()];
    const movements = keyedOf(8, run);
    const outcomes = await Promise.all([
      createAll(one.db, movements),
      createAll(other.db, [...movements].reverse()),
    ]);
    // A deadlock would have sent the creates of one of them again, alone.
    expect([one.sizes, other.sizes]).toEqual([[8], [8]]);
    const created = outcomes.flat().filter((each) => each.status === 'fulfilled');
    expect(created.filter(({ value }) => value.created)).toHaveLength(8);
    expect(new Set(created.map(({ value }) => value.movement_id)).size).toBe(8);
    expect(await storedOf(run)).toHaveLength(8);
  }
});

describe('go alone', () => {
  type Change = (draft: NewMovement) => NewMovement;
  test.each<[string, Change]>([
    ['creates of agents', (draft) => ({ ...draft, created_by: { role: 'agent' } })],
    [
      'creates with a unique reference',
      (draft) => ({ ...draft, external_reference: randomUUID(), unique_reference: true }),
    ],
    ['large creates', (draft) => ({ ...draft, labels: { note: 'x'.repeat(32_000) } })],
  ])('%s', async (_what, change) => {
    const run = randomUUID();
    const { db, sizes } = watched();
    const movements = [0, 1, 2].map((index) => change(movementOf('plain', index, run)));
    const outcomes = await createAll(db, movements);
    expect(sizes).toEqual([1, 1, 1]);
    expect(await storedOf(run)).toEqual(expectedOf(outcomes));
  });
});

test('creates of signed plans share, and each is bound to the present signer', async () => {
  await bench.sql(`INSERT INTO signers (signer_key, backend, chain_family, created_at, updated_at)
    VALUES ('new', 'noop', 'evm', now(), now())`);
  await bench.sql(`INSERT INTO signers (signer_key, backend, chain_family, replaced_by, created_at,
    updated_at) VALUES ('old', 'noop', 'evm', 'new', now(), now())`);
  const run = randomUUID();
  const { db, sizes } = watched();
  const movements = [0, 1, 2].map((index) => {
    const { plan, ...more } = movementOf('plain', index, run);
    const signer_binding = { signer_key: 'old' };
    return { ...more, plan: { ...plan, nodes: plan.nodes.map((n) => ({ ...n, signer_binding })) } };
  });
  const outcomes = await createAll(db, movements);
  expect(sizes).toEqual([3]);
  expect(await storedOf(run)).toEqual(expectedOf(outcomes));
  const bound = await bench.sql<{ signer: string }>(
    `SELECT n.signer_binding ->> 'signer_key' AS signer
     FROM movement_nodes n JOIN movements m USING (movement_id) WHERE m.strategy_id = $1`,
    run,
  );
  expect(bound).toEqual([{ signer: 'new' }, { signer: 'new' }, { signer: 'new' }]);
});

describe('a shared statement that fails', () => {
  // A deadlock, a serialization failure, a time limit, a violated constraint.
  test.each(['40P01', '40001', '57014', '23505'])(
    'with %s is left to each create alone',
    async (code) => {
      const run = randomUUID();
      const before = (creates: number): void => {
        if (creates > 1) throw coded(code);
      };
      const { db, sizes } = watched({ before });
      const outcomes = await createAll(db, keyedOf(4, run));
      expect(sizes).toEqual([4, 1, 1, 1, 1]);
      const stored = await storedOf(run);
      expect(stored).toHaveLength(4);
      expect(stored).toEqual(expectedOf(outcomes));
    },
  );

  test('and then creates that fail with a deadlock, which are repeated alone', async () => {
    const run = randomUUID();
    let deadlocks = 3;
    const before = (): void => {
      deadlocks -= 1;
      if (deadlocks >= 0) throw coded('40P01');
    };
    const { db, sizes } = watched({ before });
    const outcomes = await createAll(db, keyedOf(4, run));
    // Both go alone again, although they come together.
    expect(sizes).toEqual([4, 1, 1, 1, 1, 1, 1]);
    expect(await storedOf(run)).toHaveLength(4);
    expect(await storedOf(run)).toEqual(expectedOf(outcomes));
  });

  test('of one create is its own answer, and is not sent again', async () => {
    const before = (): void => {
      throw coded('57014');
    };
    const { db, sizes } = watched({ before });
    expect(await createAll(db, keyedOf(1, randomUUID()))).toMatchObject([
      { status: 'rejected', reason: { code: 'dependency_unavailable' } },
    ]);
    expect(sizes).toEqual([1]);
  });

  test.each<[string, Error, string]>([
    ['no connection was free', new PoolBusyError(), 'overloaded'],
    ['the database was away', coded('ECONNREFUSED'), 'dependency_unavailable'],
  ])('because %s: each create is refused so, and none waits again', async (_why, error, code) => {
    const before = (): void => {
      throw error;
    };
    const { db, sizes } = watched({ before });
    const refused = { status: 'rejected', reason: { code } };
    expect(await createAll(db, keyedOf(3, randomUUID()))).toMatchObject([
      refused,
      refused,
      refused,
    ]);
    expect(sizes).toEqual([3]);
  });

  describe('because of a lock', () => {
    const template = { template_id: randomUUID(), template_key: 'test/locked', version: 1 };
    const lockedOf = (index: number, run: string): NewMovement => {
      const { plan, ...more } = movementOf('plain', index, run);
      return { ...more, plan: { ...plan, template } };
    };
    let holder: pg.Client;
    beforeAll(async () => {
      holder = new pg.Client({ connectionString: bench.url });
      await bench.db.sql`INSERT INTO plan_templates (template_key, created_at, updated_at)
        VALUES ('test/locked', now(), now())`;
      await bench.db.sql`
        INSERT INTO plan_template_versions (template_id, template_key, version, name, graph_shape,
          approval_policy, risk_controls, completion_assurance, created_at)
        VALUES (${template.template_id}::uuid, 'test/locked', 1, 'locked', 'linear', '{}', '{}',
          'provider_completed', now())`;
      await holder.connect();
    });
    afterAll(() => holder.end());
    beforeEach(async () => {
      await holder.query('BEGIN');
      await holder.query(
        `SELECT FROM plan_template_versions WHERE template_key = 'test/locked' FOR UPDATE`,
      );
    });
    afterEach(() => holder.query('ROLLBACK'));

    test('that one of its creates waits for: the others go without it', async () => {
      const run = randomUUID();
      const { db, sizes } = watched();
      const others = createAll(
        db,
        [0, 1, 2].map((index) => movementOf('plain', index, run)),
      );
      const waiting = createMovement(db, lockedOf(3, run));
      const outcomes = await others;
      expect(sizes).toEqual([4, 1, 1, 1, 1]);
      expect(await storedOf(run)).toEqual(expectedOf(outcomes));
      expect(await storedOf(run)).toHaveLength(3);
      await holder.query('ROLLBACK');
      expect(await waiting).toMatchObject({ created: true });
    });

    test('that each statement waits for, with one create in each: another one goes without them', async () => {
      const run = randomUUID();
      const { db } = watched();
      const waiting: Promise<CreateOutcome>[] = [];
      for (let index = 0; index < 4; index += 1) {
        waiting.push(createMovement(db, lockedOf(index, run)));
        await waitForLocks(bench, index + 1);
      }
      expect(await createMovement(db, movementOf('plain', 4, run))).toMatchObject({
        created: true,
      });
      await holder.query('ROLLBACK');
      expect(await Promise.all(waiting)).toMatchObject(waiting.map(() => ({ created: true })));
    });
  });
});

test('the limit for locks ends with a shared statement: no connection keeps it', async () => {
  const { db } = watched();
  await createAll(db, keyedOf(3, randomUUID()));
  const limits = await Promise.all(
    Array.from(
      { length: 20 },
      () => bench.db.sql<{ limit: string }>`
      SELECT current_setting('lock_timeout') AS limit FROM pg_sleep(0.2)`,
    ),
  );
  expect(limits.flat().filter(({ limit }) => limit !== '0')).toEqual([]);
});

describe('a connection that breaks during a shared statement', () => {
  const unknown = { status: 'rejected', reason: { code: 'outcome_unknown' } };
  const created = { status: 'fulfilled', value: { created: true } };

  test('after the commit: each create finds its movement, and a repeat remains unknown', async () => {
    const run = randomUUID();
    const after = (creates: number): void => {
      if (creates > 1) throw coded('ECONNRESET');
    };
    const { db, sizes } = watched({ after });
    const kinds = ['plain', 'first', 'plain', 'first'] as const;
    const outcomes = await createAll(
      db,
      kinds.map((kind, index) => movementOf(kind, index, run)),
    );
    expect(outcomes).toMatchObject([created, created, created, unknown]);
    expect(sizes).toEqual([4]);
    expect(await storedOf(run)).toEqual(expectedOf(outcomes));
  });

  test('before the server has it: each outcome is unknown, and nothing is sent again', async () => {
    const run = randomUUID();
    const before = (): void => {
      throw coded('ECONNRESET');
    };
    const { db, sizes } = watched({ before });
    expect(await createAll(db, keyedOf(3, run))).toMatchObject([unknown, unknown, unknown]);
    expect(sizes).toEqual([3]);
    expect(await storedOf(run)).toEqual([]);
  });

  test('when its session ends before the commit: nothing is there, and the keys create later', async () => {
    const run = randomUUID();
    const holder = new pg.Client({ connectionString: bench.url });
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT FROM plan_template_versions FOR UPDATE');
      const { db, sizes } = watched();
      const first = createAll(db, keyedOf(3, run));
      await waitForLocks(bench, 1);
      await bench.sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      expect(await first).toMatchObject([unknown, unknown, unknown]);
      expect(sizes).toEqual([3]);
      await holder.query('ROLLBACK');
      expect(await storedOf(run)).toEqual([]);
      const again = await createAll(db, keyedOf(3, run));
      expect(again).toMatchObject([created, created, created]);
      expect(await storedOf(run)).toEqual(expectedOf(again));
    } finally {
      await holder.end();
    }
  });

  test('when its session ends while the commit waits for a standby: each create finds its movement', async () => {
    const run = randomUUID();
    const standby = await absentStandby(bench.url);
    try {
      await standby.goAway();
      const { db, sizes } = watched();
      const answers = createAll(db, keyedOf(3, run));
      await standby.waiting();
      await standby.endWaiting();
      await standby.comeBack();
      const outcomes = await answers;
      expect(outcomes).toMatchObject([created, created, created]);
      expect(sizes).toEqual([3]);
      expect(await storedOf(run)).toEqual(expectedOf(outcomes));
    } finally {
      await standby.comeBack();
      await standby.close();
    }
  });
});
