/** Calls that wait for people: how one is shown, and what a page says about its change request. */
import { createHash } from 'node:crypto';
import { createElement } from 'react';
import { createDashboardClient } from '../../clients/http/dashboard.ts';
import { ChangeRequestedError } from '../../clients/http/errors.ts';
import { afterFailure } from '../../console/data/after-failure.ts';
import { brokenGlass, LAST_WEEK, ofLastWeek } from '../../console/data/broken-glass.ts';
import { comparedFields } from '../../console/pages/change/compare.ts';
import { readDocument } from '../../console/pages/change/document.ts';
import {
  documentProblem,
  isAuthor,
  mayApproveChange,
  outcomeOf,
  remainsOf,
  whyNotKnown,
  type Change,
  type Moves,
  type NamedPlan,
} from '../../console/pages/change/model.ts';
import type { PlanReading } from '../../console/pages/movement/model/plan.ts';
import { Problem } from '../../console/parts/problem.tsx';
import { namedMovements } from '../../domain/approval/named-movements.ts';
import * as make from './movement-fixtures.ts';
import { drawn, linked } from './pages.ts';

const ID = '01920000-0000-7000-8000-000000000001';
const WAITS = {
  change_request_id: ID,
  kind: 'approval_rules',
  hash: 'f'.repeat(64),
  approvals: { rules: [], required: [], decisions: [], you: { may: false, why_not: 'initiator' } },
};

/** The console's client, to which every write is answered 202. */
const client = createDashboardClient({
  baseUrl: 'http://localhost',
  key: { operator: 'ada', secret: 'secret' },
  retries: 0,
  fetch: (url) =>
    Promise.resolve(
      String(url).endsWith('/dashboard/nonce')
        ? Response.json({ nonce: 'n'.repeat(22) })
        : Response.json(WAITS, { status: 202 }),
    ),
});

test.each<[string, () => Promise<unknown>]>([
  [
    'a call of the API',
    () => client.call('setCutoverMode', { body: { mode: 'normal', reason: 'It is over.' } }),
  ],
  [
    'the allowlist',
    () =>
      client.send({
        method: 'POST',
        target: '/dashboard/allowed-addresses',
        body: { address: '' },
      }),
  ],
])('a 202 is never taken as done: %s waits, and its request is linked', async (_, send) => {
  const error: unknown = await send().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ChangeRequestedError);
  expect(afterFailure(error)).toEqual({ kind: 'waits' });
  const html = await linked(createElement(Problem, { error }));
  expect(html).toContain('Waits for approvals: change request');
  expect(html).toContain(`href="/changes/${ID}"`);
  expect(html).toContain('01920000…000001');
  expect(html).toContain('approval rules');
});

const fieldsOf = (before: unknown, after: unknown) =>
  comparedFields(before, after).map(({ path, is }) => [path.join('.'), is]);

test('before and after are compared field by field, and what differs comes first', () => {
  const before = { key: 'desk', limits: { day: '10', week: '50' }, assets: ['USDC'], note: 'x' };
  const after = { assets: ['USDC'], limits: { week: '70', day: '10' }, key: 'desk', owner: null };
  expect(fieldsOf(before, after)).toEqual([
    ['limits.week', 'changed'],
    ['note', 'removed'],
    ['owner', 'added'],
    ['key', 'same'],
    ['limits.day', 'same'],
    ['assets', 'same'],
  ]);
  expect(comparedFields(before, after)[0]).toMatchObject({ before: '50', after: '70' });
});

test('a row that is new, goes, or is no row, is compared too', () => {
  expect(fieldsOf(null, { a: 1, b: { c: 2 } })).toEqual([
    ['a', 'added'],
    ['b.c', 'added'],
  ]);
  expect(fieldsOf({ a: 1 }, null)).toEqual([['a', 'removed']]);
  expect(fieldsOf({ a: {} }, { a: { b: 1 } })).toEqual([['a', 'changed']]);
  expect(fieldsOf({ a: { b: 1 } }, { a: [1] })).toEqual([['a', 'changed']]);
  expect(fieldsOf([{ b: 1, a: 2 }], [{ a: 2, b: 1 }])).toEqual([['', 'same']]);
  expect(fieldsOf('one', 'other')).toEqual([['', 'changed']]);
  const hostile: unknown = JSON.parse('{"__proto__":{"a":1},"constructor":"x"}');
  expect(fieldsOf({}, hostile)).toEqual([['', 'changed']]);
  expect(fieldsOf(null, hostile)).toEqual([
    ['__proto__.a', 'added'],
    ['constructor', 'added'],
  ]);
});

function changeOf(missing: number, over: Partial<Change> = {}): Change {
  const required = [{ rule: 'r', group: 'g', threshold: 2, received: 2 - missing, missing }];
  const you = { may: true, why_not: null };
  return {
    ...{ state: 'open', author: 'dashboard:ada', code: null },
    approvals: { rules: ['r'], required, decisions: [], you },
    ...over,
  } as unknown as Change;
}

test('where nothing is missing the page says who makes the change', () => {
  expect(remainsOf(changeOf(1))).toBeNull();
  expect(remainsOf(changeOf(0))).toContain('approve it again');
  expect(remainsOf(changeOf(0, { author: 'fundadmin:ada' }))).toContain(
    'the same fundadmin command makes the change when it is run again',
  );
  expect(remainsOf(changeOf(0, { author: 'fundadmin:ada', state: 'applied' }))).toBeNull();
});

test('a decision says what became of the change request', () => {
  expect(outcomeOf(changeOf(1))).toBe('Your approval is recorded; 1 more missing.');
  expect(outcomeOf(changeOf(0, { author: 'fundadmin:ada' }))).toContain('fundadmin command');
  expect(outcomeOf(changeOf(0, { state: 'applied' }))).toBe('The change was made.');
  expect(outcomeOf(changeOf(0, { state: 'failed', code: 'policy_not_found' }))).toContain(
    'refused (policy_not_found)',
  );
  expect(outcomeOf(changeOf(1, { state: 'rejected' }))).toContain('rejected: nothing was changed');
});

test('an author is known by identity, or as the same person', () => {
  const { approvals } = changeOf(1);
  const same = { ...approvals, you: { may: false, why_not: 'initiator' } } as Change['approvals'];
  expect(isAuthor(changeOf(1), 'dashboard:ada')).toBe(true);
  expect(isAuthor(changeOf(1), 'dashboard:bob')).toBe(false);
  expect(isAuthor(changeOf(1, { approvals: same }), 'dashboard:bob')).toBe(true);
  expect(mayApproveChange('initiator')).toContain('you made this change request');
  expect(mayApproveChange('not_in_group')).toContain('in none of the groups');
});

test('the glass is shown as broken for seven days', () => {
  const now = Date.parse('2026-11-28T12:00:00Z');
  const says = (times: readonly string[], hasMore = false): string | null => {
    const changes = times.map((created_at) => changeOf(0, { created_at }));
    return brokenGlass(ofLastWeek(changes, now).length, hasMore);
  };
  expect(LAST_WEEK).toMatchObject({ break_glass: true });
  expect(says([])).toBeNull();
  expect(says(['2026-11-21T11:59:59.000Z'])).toBeNull();
  const [recent, other] = ['2026-11-21T12:00:01.000Z', '2026-11-28T11:00:00.000Z'];
  expect(says([recent])).toBe(
    'The glass was broken: 1 change was made alone in the last seven days',
  );
  expect(says([recent, other])).toContain('2 changes were made alone');
  expect(says([recent], true)).toContain('1+ changes were');
});

test('Needs you lists open change requests, and what was made alone', async () => {
  const { leaves, reads, html } = await drawn({ path: '/', at: '/' });
  const put = (field: string, value: unknown): void => {
    const named = leaves.filter(
      ({ path }) => path === `listChangeRequests.change_requests[].${field}`,
    );
    // One row of each of the two lists.
    expect(named).toHaveLength(2);
    for (const leaf of named) leaf.put(value);
  };
  expect(reads.filter((id) => id === 'listChangeRequests')).toHaveLength(2);
  put('approvals.you.why_not', null);
  put('change_request_id', ID);
  const before = html();
  expect(before).toContain('Changes that wait for approvals (1)');
  expect(before).toContain(`href="/changes/${ID}"`);
  expect(before).toContain('<strong>You may approve.</strong>');
  // The answers were made long ago.
  expect(before).not.toContain('Made alone');
  put('approvals.you.may', false);
  put('approvals.you.why_not', 'initiator');
  expect(html()).toContain('You may not approve: you made this change request.');
  put('created_at', new Date().toISOString());
  put('reason', 'the desk is away');
  const alone = html();
  expect(alone).toContain('Made alone (1)');
  expect(alone).toContain('1 change was made alone in the last seven days.');
  expect(alone).toContain('the desk is away');
});

describe('a request that acts on movements', () => {
  const plan = make.plan({
    nodes: [
      make.planNode({
        ...{ node_key: 'out', action_type: 'cex_withdrawal' },
        config: {
          ...{ venue: 'exchange-sub', network: 'XRPL', tag: 'memo-17', amount: '12.75' },
          destination_address: 'rShared',
        },
      }),
    ],
  });
  const text = JSON.stringify(plan);
  const hash = createHash('sha256').update(text).digest('hex');
  const named = (plan_hash: string) => ({
    movements: [{ movement_id: make.ID, state: 'WAITING_MANUAL_ACTION', plan_hash, nodes: [] }],
  });
  const wanted = (before: unknown) => ({
    ...{ kind: 'movement_action', author: 'dashboard:ada', method: 'POST', path: '/retry' },
    ...{ subject: 'movements', body: null, before, after: { is: 'retried' } },
  });
  const page = (
    before: unknown,
    reading: object,
    answers: Readonly<Record<string, unknown>> = {},
  ) =>
    drawn({
      ...{ path: '/changes/$change_request_id', at: '/changes/one' },
      where: {
        'getChangeRequest.state': 'open',
        // What the service states beside the document counts for nothing.
        'getChangeRequest.subject': 'signers',
        'getChangeRequest.approvals.you.may': true,
      },
      answers: {
        'document-reading': { status: 'agrees', wanted: wanted(before) },
        getMovement: make.movement({ nodes: [] }),
        allowlist: [make.row({ chain_family: 'cex', address: 'rShared', chain_id: null })],
        'plan-reading': reading,
        ...answers,
      },
    });
  const agrees = { status: 'agrees', text, hash, plan };
  const approve = (html: string): string =>
    /aria-disabled="(true|false)"[^>]*>Approve</.exec(html)?.[1] ?? 'not there';

  test('shows what each moves, with a link, and may be approved', async () => {
    const { html } = await page(named(hash), agrees);
    for (const each of ['12.75', 'rShared', 'XRPL', 'memo-17', 'exchange-sub', 'desk', hash])
      expect(html()).toContain(each);
    expect(html()).toContain('treasury');
    expect(html()).toContain(`href="/movements/${make.ID}"`);
    expect(html()).toContain('<bdi>movements</bdi>');
    expect(html()).toContain('made here from the document');
    expect(approve(html())).toBe('false');
  });

  test.each<[string, string, unknown, string]>([
    ['document', 'document-reading', null, 'The document of the change request is being read.'],
    [
      'document with its hash',
      'document-reading',
      { status: 'differs', problem: 'It is another document.' },
      'It is another document.',
    ],
    ['movement', 'getMovement', null, `Movement ${make.ID} is being read.`],
    ['allowlist', 'allowlist', null, 'The allowlist is being read.'],
  ])('is not approved without its %s', async (_, key, answer, says) => {
    const { html } = await page(named(hash), agrees, { [key]: answer });
    expect(approve(html())).toBe('true');
    expect(html()).toContain(says);
  });

  test('its document counts only where its bytes have the hash of the request', async () => {
    const { author, kind, ...row } = wanted(named(hash));
    const document = JSON.stringify({
      ...{ id: ID, kind, kinds: [kind], ...row },
      author: { client_id: author },
    });
    const made = (each: string) => createHash('sha256').update(each).digest('hex');
    const reading = await readDocument(document, made(document));
    expect(reading).toEqual({ status: 'agrees', wanted: wanted(named(hash)) });
    expect(documentProblem({ reading, error: null })).toBeNull();
    const other = await readDocument(document, 'f'.repeat(64));
    expect(other.status).toBe('differs');
    expect(documentProblem({ reading: other, error: null })).toContain('has ffffffff');
    // Each kind has rules of its own that hold.
    const two = JSON.stringify({ ...wanted(null), kinds: ['signers', 'keys'] });
    expect(await readDocument(two, made(two))).toMatchObject({ wanted: { kind: 'signers, keys' } });
    const noKind = JSON.stringify({ ...wanted(null), kinds: [] });
    for (const none of ['', '[]', '{"kind":"signers"}', noKind])
      expect(await readDocument(none, made(none))).toMatchObject({ status: 'unreadable' });
    const error = new Error('It is away.');
    expect(documentProblem({ reading: null, error })).toContain('It is away.');
  });

  test.each<[string, unknown, object, string]>([
    [
      'another plan',
      named('f'.repeat(64)),
      { status: 'differs', text, hash, problem: '' },
      'names ffffffff',
    ],
    [
      'a plan that is none',
      named(hash),
      { status: 'unreadable', text, hash, problem: 'It cannot be read.' },
      'It cannot be read.',
    ],
    ['movements that cannot be read', { movements: [{}] }, agrees, 'cannot read which movements'],
  ])('is not approved for %s', async (_, before, reading, says) => {
    const { html } = await page(before, reading);
    expect(approve(html())).toBe('true');
    expect(html()).toContain(says);
    expect(html()).not.toContain('memo-17');
  });

  test('is not approved before all of it is read, nor where it cannot be', () => {
    const why = (plans: readonly NamedPlan[], over: Partial<Moves> = {}) =>
      whyNotKnown({ plans, rows: [], rowsError: null, ...over });
    const one = { movement_id: make.ID, plan_hash: hash, reading: null, movement: null };
    const away = new Error('It is away.');
    expect(why([{ ...one, error: null }])).toContain('is being read');
    expect(why([{ ...one, error: away }])).toContain('It is away.');
    const plan = { ...one, reading: agrees as PlanReading, error: null };
    expect(why([plan])).toBe(`Movement ${make.ID} is being read.`);
    expect(why([{ ...plan, error: away }])).toBe(
      `Movement ${make.ID} could not be read: It is away.`,
    );
    const read = { ...plan, movement: make.movement() };
    expect(why([read, { ...one, error: null }])).toContain('is being read');
    expect(why([read])).toBeNull();
    expect(why([read], { rows: null })).toContain('allowlist is being read');
    expect(why([read], { rows: null, rowsError: away })).toContain('cannot be checked');
    expect(why([], { rows: null })).toBeNull();
  });

  test('names each by its id and the hash of its plan, or cannot be read', () => {
    const movement = { movement_id: make.ID, plan_hash: hash };
    expect(namedMovements('movements', { movements: [movement] })).toEqual([movement]);
    expect(namedMovements('signers', { movements: [movement] })).toEqual([]);
    for (const before of [null, {}, { movements: [] }, { movements: [movement, {}] }, [movement]])
      expect(namedMovements('movements', before)).toBeNull();
  });
});
