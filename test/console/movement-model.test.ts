/** What the console's page makes of the API's answers before anything is drawn. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { ApiError, UnreachableError } from '../../clients/http/errors.ts';
import { afterFailure } from '../../console/data/after-failure.ts';
import {
  choicesOf,
  elsewhereOf,
  VERBS,
  type Choice,
  type Standpoint,
} from '../../console/pages/movement/model/choices.ts';
import {
  decidedSince,
  missing,
  overtaken,
  presentOf,
  statementOf,
} from '../../console/pages/movement/model/decision.ts';
import { placed } from '../../console/pages/movement/model/graph.ts';
import { amountsInWords, feesOf, outflowOf } from '../../console/pages/movement/model/outflow.ts';
import { sumByAsset } from '../../console/parts/sums.ts';
import { payeesOf } from '../../console/pages/movement/model/payees.ts';
import { readPlan } from '../../console/pages/movement/model/plan.ts';
import { sentenceOf } from '../../console/pages/movement/model/sentence.ts';
import type { Movement, Timeline } from '../../console/pages/movement/model/answers.ts';
import { EDGE_TYPES, NODE_KINDS } from '../../domain/graph/types.ts';
import { plannedSends } from '../../domain/send/planned-sends.ts';
import { MOVEMENT_STATES } from '../../domain/states/movement.ts';
import { NODE_STATES } from '../../domain/states/node.ts';
import * as make from './movement-fixtures.ts';

const NOW = Date.parse('2026-11-26T10:30:00Z');
const textOf = (plan: object): string => JSON.stringify(plan);
const sha = (text: string): string => createHash('sha256').update(text).digest('hex');

async function standpoint(over: Partial<Standpoint> & { movement: Movement }): Promise<Standpoint> {
  const text = textOf(make.plan());
  const movement = { ...over.movement, compiled_plan_hash: sha(text) };
  const plan = await readPlan(text, movement.compiled_plan_hash);
  return { plan, role: 'operator', behind: null, ...over, movement };
}
const of = (choices: readonly Choice[], verb: string): readonly Choice[] =>
  choices.filter((choice) => choice.verb === verb);
const offered = (choices: readonly Choice[]): readonly string[] =>
  choices.filter(({ reason }) => reason === null).map(({ verb }) => verb);

const APPROVAL = make.attention([
  { action: 'approve', consequence: 'The plan runs.' },
  { action: 'reject', consequence: 'It ends as REJECTED.' },
]);

describe('the plan', () => {
  test('its hash is made here, and any other byte is no plan and offers nothing', async () => {
    const text = textOf(make.plan());
    expect(await readPlan(text, sha(text))).toMatchObject({ status: 'agrees', hash: sha(text) });
    const changed = text.replace('250.5', '950.5');
    const movement = make.movement({ compiled_plan_hash: sha(text), attention: APPROVAL });
    const plan = await readPlan(changed, sha(text));
    expect(plan).toMatchObject({ status: 'differs', hash: sha(changed) });
    const choices = choicesOf({ movement, plan, role: 'admin', behind: null });
    expect(offered(choices)).toEqual([]);
    expect(new Set(choices.map(({ reason }) => reason)).size).toBe(1);
    expect(choices[0]?.reason).toContain(sha(changed));
  });

  test('what has the hash and is no plan offers nothing either', async () => {
    for (const text of ['[]', '{"nodes":[]}', 'not json']) {
      const plan = await readPlan(text, sha(text));
      expect(plan.status).toBe('unreadable');
      const movement = make.movement({ attention: APPROVAL });
      expect(offered(choicesOf({ movement, plan, role: 'admin', behind: null }))).toEqual([]);
    }
  });
});

describe('amounts', () => {
  const amount = fc
    .tuple(fc.bigInt(0n, 10n ** 20n - 1n), fc.bigInt(0n, 10n ** 18n - 1n))
    .map(([whole, part]) => ({ whole, part }));
  const exact = (units: bigint): string => {
    const part = (units % 10n ** 18n).toString().padStart(18, '0').replace(/0+$/, '');
    return (units / 10n ** 18n).toString() + (part === '' ? '' : `.${part}`);
  };

  test('sums by asset are exact to the last of 18 places', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('USDC', 'ETH'), amount), { maxLength: 12 }),
        (entries) => {
          const units = new Map<string, bigint>();
          for (const [asset, { whole, part }] of entries)
            units.set(asset, (units.get(asset) ?? 0n) + whole * 10n ** 18n + part);
          const sums = sumByAsset(
            entries.map(([asset, { whole, part }]) => ({
              asset,
              amount: exact(whole * 10n ** 18n + part),
            })),
          );
          expect(sums).toEqual([...units].map(([asset, sum]) => ({ asset, amount: exact(sum) })));
        },
      ),
    );
  });

  test('one unbounded amount leaves its asset unbounded, and a plan that is silent is not nothing', () => {
    const unbounded = [
      { asset: 'USDC', amount: null },
      { asset: 'USDC', amount: '1' },
    ];
    expect(sumByAsset(unbounded)).toEqual([{ asset: 'USDC', amount: null }]);
    expect(amountsInWords(sumByAsset(unbounded))).toBe('an unbounded amount of USDC');
    const { outflow: _outflow, ...older } = make.plan();
    expect(outflowOf(older as never)).toBeNull();
    expect(outflowOf(make.plan({ outflow: [] }))).toEqual([]);
  });

  test('fees are those that the plan names; the others are named as not counted', () => {
    const burn = make.planNode({
      node_key: 'burn',
      action_type: 'cctp_burn',
      config: {
        source_chain_id: 1,
        destination_chain_id: 10,
        mint_recipient: make.TREASURY,
        max_fee: '0.25',
      },
    });
    const fees = feesOf(
      plannedSends(make.plan({ nodes: [burn, { ...burn, node_key: 'more' }, make.planNode()] })),
    );
    expect(fees.atMost).toEqual([{ asset: 'USDC', amount: '0.5' }]);
    expect(fees.unnamed).toEqual(['pay']);
  });
});

describe('payees', () => {
  const look = (over: Partial<Parameters<typeof payeesOf>[0]> = {}) =>
    payeesOf({
      sends: plannedSends(make.plan()),
      movement: { nodes: [make.node()] },
      rows: [make.row()],
      now: NOW,
      ...over,
    });
  const seen = (code: string | null, over: object = {}) =>
    ({
      nodes: [make.node()],
      review: {
        sends: [
          {
            node_key: 'pay',
            payees: [
              {
                address: make.TREASURY,
                chain_family: 'evm',
                chain_id: 1,
                code,
                problem: null,
                usable_after: null,
                allowed: code === null,
                ...over,
              },
            ],
          },
        ],
      },
    }) as unknown as Movement;

  test('label, who listed it and when, and what is paid to it', () => {
    expect(look()).toMatchObject([
      {
        address: make.TREASURY,
        label: 'treasury',
        listed_by: 'ada',
        warnings: [],
        listed_at: '2026-11-01T10:00:00.000Z',
        paid: [{ node_key: 'pay', amount: '250.5', asset: 'USDC' }],
      },
    ]);
  });

  test.each([
    ['a row of another chain', { rows: [make.row({ chain_id: 10 })] }, 'not_listed'],
    ['a row that is not active', { rows: [make.row({ active: false })] }, 'not_listed'],
    ['a cooling row', { rows: [make.row({ usable_after: '2026-11-26T10:31:00Z' })] }, 'cooling'],
    ['the service refuses', { movement: seen('ADDRESS_NOT_ALLOWLISTED') }, 'not_listed'],
    ['the service says that it cools', { movement: seen('ADDRESS_IN_COOLING_PERIOD') }, 'cooling'],
    [
      'the service requires a chain',
      { movement: seen('ADDRESS_CHAIN_ID_REQUIRED') },
      'chain_required',
    ],
    [
      'the service has a problem',
      { movement: seen(null, { problem: 'is the zero address' }) },
      'problem',
    ],
    [
      'the service is silent of it',
      { movement: seen(null, { address: `0x${'1'.repeat(40)}` }) },
      'unseen',
    ],
  ])('%s is a warning', (_name, over, warning) => {
    expect(look(over)[0]?.warnings.map((each) => each.warning)).toEqual([warning]);
  });

  test('whom the service pays beside the plan is shown too', () => {
    const other = `0x${'1'.repeat(40)}`;
    const all = look({ movement: seen(null, { address: other }) });
    expect(all.map(({ address }) => address)).toEqual([make.TREASURY, other]);
    expect(look({ movement: { nodes: [make.node({ destination: other })] } })).toHaveLength(2);
  });

  test('an address that begins and ends like a listed one is marked, in any case of its letters', () => {
    const alike = `0x5290${'a'.repeat(32)}9EE7`;
    const nodes = [make.planNode({ config: { chain_id: 1, destination_address: alike } })];
    const [payee] = look({
      sends: plannedSends(make.plan({ nodes })),
      movement: { nodes: [make.node({ destination: alike })] },
    });
    expect(payee).toMatchObject({ look_alike: make.TREASURY });
    expect(payee?.warnings.map(({ warning }) => warning)).toEqual(['not_listed', 'look_alike']);
    const same = [make.row({ address: make.TREASURY.toUpperCase().replace('0X', '0x') })];
    expect(look({ rows: same })[0]).toMatchObject({ look_alike: null, warnings: [] });
  });
});

describe('what may be done', () => {
  test('offers are those of attention, with node, attempt, state and consequence', async () => {
    const at = await standpoint({
      movement: make.movement({
        request_state: 'MANUAL_INTERVENTION',
        nodes: [make.node({ state: 'UNKNOWN', attempt: 2 })],
        attention: make.attention(
          [
            { action: 'enable_executor', consequence: 'It may take work.' },
            {
              action: 'resume',
              node_key: 'pay',
              attempt: 2,
              state: 'UNKNOWN',
              consequence: 'Observed again.',
            },
            { action: 'resolve', consequence: 'A person answers.' },
          ],
          { reason: 'unknown_outcome', node_key: 'pay' },
        ),
      }),
    });
    const choices = choicesOf(at);
    expect(offered(choices)).toEqual(['resume', 'resolve', 'cancel_transaction']);
    const pay = { node_key: 'pay', attempt: 2, state: 'UNKNOWN' };
    expect(of(choices, 'resume')).toMatchObject([{ node: pay, consequence: 'Observed again.' }]);
    expect(of(choices, 'resolve')).toMatchObject([{ node: pay }]);
    expect(elsewhereOf(at.movement)).toMatchObject([
      { action: 'enable_executor', node_key: 'pay' },
    ]);
    expect(statementOf(of(choices, 'resume')[0]!, at.movement, null, filled)).toEqual({
      method: 'POST',
      path: `/movements/${make.ID}/actions/resume`,
      body: pay,
    });
  });

  test('every verb of every state is offered or says why not, and another role is offered nothing', async () => {
    for (const request_state of MOVEMENT_STATES) {
      const movement = make.movement({ request_state });
      for (const choice of choicesOf(await standpoint({ movement })))
        expect((choice.reason === null) !== (choice.consequence === null)).toBe(true);
      for (const over of [
        { role: 'agent' },
        { role: 'allowlist' },
        { role: null },
        { behind: 'Offline.' },
      ]) {
        const choices = choicesOf(
          await standpoint({ movement: { ...movement, attention: APPROVAL }, ...over }),
        );
        expect(offered(choices)).toEqual([]);
        expect(new Set(choices.map(({ verb }) => verb))).toEqual(new Set(VERBS));
      }
    }
  });

  test('a plan that is not read is not approved', async () => {
    const at = await standpoint({ movement: make.movement({ attention: APPROVAL }) });
    expect(offered(choicesOf(at))).toEqual(['approve', 'reject']);
    expect(offered(choicesOf({ ...at, plan: null }))).toEqual(['reject']);
  });

  test('whoever may not approve under a rule sees why, and may still reject', async () => {
    const under = (you: NonNullable<Movement['approvals']>['you']) =>
      standpoint({
        movement: make.movement({
          attention: APPROVAL,
          approvals: { rules: ['large'], required: [], decisions: [], you },
        }),
      });
    const excluded = {
      ...({ may: false, why_not: 'not_in_group', evidence: 'any' } as const),
      approved: false,
    };
    const choices = choicesOf(await under(excluded));
    expect(offered(choices)).toEqual(['reject']);
    expect(of(choices, 'approve')[0]?.reason).toContain('in none of the groups');
    for (const evidence of ['any', 'passkey'] as const) {
      const at = await under({ may: true, why_not: null, evidence, approved: false });
      expect(offered(choicesOf(at))).toEqual(['approve', 'reject']);
    }
    const at = await under({ may: true, why_not: null, evidence: 'any', approved: true });
    const withApproval = choicesOf(at);
    expect(offered(withApproval)).toEqual(['approve', 'withdraw_approval', 'reject']);
    const [withdraw] = of(withApproval, 'withdraw_approval');
    if (withdraw === undefined) throw new Error('there is no such choice');
    expect(statementOf(withdraw, at.movement, null, { approver_id: '', reason: '' })).toEqual({
      method: 'POST',
      path: `/movements/${make.ID}/withdraw-approval`,
      body: {},
    });
  });

  test('a running movement that needs no person can be cancelled where its plan has a way out', async () => {
    const running = make.movement({ request_state: 'EXECUTING' });
    expect(offered(choicesOf(await standpoint({ movement: running })))).toEqual([]);
    const edges = [
      {
        from: 'pay',
        to: 'back',
        edge_type: 'on_cancel',
        priority: 0,
        join_key: null,
        condition_expr: null,
      },
    ] as const;
    const text = textOf(make.plan({ edges }));
    const plan = await readPlan(text, sha(text));
    const choices = choicesOf(await standpoint({ movement: running, plan }));
    expect(offered(choices)).toEqual(['cancel']);
    expect(of(choices, 'cancel')[0]?.consequence).toContain('back');
  });

  test.each([
    ['cctp_burn', 'UNKNOWN', true],
    ['cctp_burn', 'OBSERVING', false],
    ['evm_transfer', 'OBSERVING', true],
    ['perp_withdraw', 'UNKNOWN', false],
  ] as const)(
    'the transaction of a %s that is %s can be cancelled: %s',
    async (action_type, state, isOffered) => {
      const nodes = [make.node({ action_type, state })];
      const movement = make.movement({ request_state: 'EXECUTING', nodes });
      expect(offered(choicesOf(await standpoint({ movement })))).toEqual(
        isOffered ? ['cancel_transaction'] : [],
      );
    },
  );

  test('a payment that completed a node can be reassigned, and open allowances reset', async () => {
    const arrive = make.node({
      node_key: 'arrive',
      node_kind: 'observe',
      action_type: 'evm_balance_observe',
      state: 'COMPLETED',
      output: { payments: [{ amount: '1' }] },
    });
    const over = {
      nodes: [arrive],
      open_allowances: [{ amount: '1', asset: 'USDC', spender: '0xab' }],
    } as never;
    const running = await standpoint({
      movement: make.movement({ request_state: 'EXECUTING', ...(over as object) }),
    });
    expect(offered(choicesOf(running))).toEqual(['reassign', 'reset_allowances']);
    const ended = await standpoint({
      movement: make.movement({ request_state: 'COMPLETED', ...(over as object) }),
    });
    expect(offered(choicesOf(ended))).toEqual(['reset_allowances']);
  });
});

const filled = { approver_id: 'desk', reason: 'why' };

describe('a decision', () => {
  test('an approval sends the hash that was made of the plan that is shown', async () => {
    const at = await standpoint({ movement: make.movement({ attention: APPROVAL }) });
    const [approve] = of(choicesOf(at), 'approve');
    const hash = at.plan?.hash ?? null;
    const body = { approver_id: 'desk', compiled_plan_hash: sha(textOf(make.plan())) };
    const sent = (reason: string) =>
      statementOf(approve!, at.movement, hash, { ...filled, reason }).body;
    expect(sent('')).toEqual(body);
    expect(sent('why')).toEqual({ ...body, reason: 'why' });
  });

  test('a movement that changed under the sheet refuses it', async () => {
    const at = await standpoint({ movement: make.movement({ attention: APPROVAL }) });
    const [approve] = of(choicesOf(at), 'approve');
    expect(overtaken(approve!, at.plan!.hash, at)).toBeNull();
    expect(overtaken(approve!, 'e'.repeat(64), at)).toContain('no longer the plan');
    const decided = { ...at.movement, request_state: 'REJECTED' as const, attention: null };
    expect(overtaken(approve!, at.plan!.hash, { ...at, movement: decided })).toContain('REJECTED');
    const again = (attempt: number) =>
      make.movement({
        request_state: 'FAILED',
        nodes: [make.node({ state: 'FAILED', attempt })],
        attention: make.attention([
          { action: 'retry', node_key: 'pay', attempt, state: 'FAILED', consequence: 'Again.' },
        ]),
      });
    const [retry] = of(choicesOf(await standpoint({ movement: again(1) })), 'retry');
    expect(overtaken(retry!, null, await standpoint({ movement: again(1) }))).toBeNull();
    expect(overtaken(retry!, null, await standpoint({ movement: again(2) }))).toContain(
      'attempt 2',
    );
  });

  test('an acknowledge names the reason that was shown, and is not sent once it is another', async () => {
    const needing = (attention_reason: 'failed' | 'landed_late') =>
      make.movement({
        request_state: 'FAILED',
        attention: make.attention([
          { action: 'acknowledge', attention_reason, node_key: 'pay', consequence: 'It stays.' },
        ]),
      });
    const at = await standpoint({ movement: needing('failed') });
    const [failure] = of(choicesOf(at), 'acknowledge');
    expect(statementOf(failure!, at.movement, null, filled).body).toEqual({
      reason: 'why',
      attention_reason: 'failed',
      node_key: 'pay',
    });
    expect(overtaken(failure!, null, at)).toBeNull();
    const landed = await standpoint({ movement: needing('landed_late') });
    expect(overtaken(failure!, null, landed)).toContain('landed late of pay');
    // A service of the release before names no reason, and takes none.
    const before = make.movement({
      request_state: 'FAILED',
      attention: make.attention([{ action: 'acknowledge', consequence: 'It stays.' }]),
    });
    const [plain] = of(choicesOf(await standpoint({ movement: before })), 'acknowledge');
    expect(statementOf(plain!, before, null, filled).body).toEqual({ reason: 'why' });
  });

  test('a resolve states only what is on offer, also where that changes under the sheet', async () => {
    const unknown = (offer: object) =>
      standpoint({
        movement: make.movement({
          request_state: 'MANUAL_INTERVENTION',
          nodes: [make.node({ state: 'UNKNOWN' })],
          attention: make.attention(
            [{ action: 'resolve', consequence: 'A person answers.', ...offer }],
            { reason: 'unknown_outcome', node_key: 'pay' },
          ),
        }),
      });
    const offering = (...outcomes: readonly string[]) => unknown({ outcomes });
    const at = await offering('completed', 'failed', 'abandoned');
    const [sheet] = of(choicesOf(at), 'resolve');
    expect(sheet).toMatchObject({
      outcomes: ['completed', 'failed', 'abandoned'],
      claim_places: [],
    });
    expect(overtaken(sheet!, null, at, 'failed')).toBeNull();
    const later = await offering('completed', 'abandoned');
    expect(overtaken(sheet!, null, later, 'failed')).toBe(
      'It cannot be stated as failed now; on offer: completed, abandoned.',
    );
    for (const outcome of [undefined, 'completed', 'abandoned'] as const)
      expect(overtaken(sheet!, null, later, outcome)).toBeNull();
    // The open sheet lists what is on offer now, also what has come since.
    expect(presentOf(sheet!, later).outcomes).toEqual(['completed', 'abandoned']);
    const [few] = of(choicesOf(later), 'resolve');
    expect(presentOf(few!, at).outcomes).toEqual(['completed', 'failed', 'abandoned']);
    const over = await standpoint({ movement: make.movement({ request_state: 'COMPLETED' }) });
    expect(presentOf(sheet!, over)).toBe(sheet);
    // A service of the release before names no outcomes, and takes each.
    const before = await unknown({});
    const [plain] = of(choicesOf(before), 'resolve');
    expect(plain).not.toHaveProperty('outcomes');
    expect(plain).not.toHaveProperty('claim_places');
    for (const outcome of ['completed', 'failed', 'abandoned'] as const)
      expect(overtaken(sheet!, null, before, outcome)).toBeNull();
    const places = ['output.payments'];
    const claims = await unknown({ outcomes: ['completed'], claim_places: places });
    expect(of(choicesOf(claims), 'resolve')).toMatchObject([{ claim_places: places }]);
  });

  test('a lost answer is looked up, a refusal is one', () => {
    const api = (rawCode: string | null, status: number, maybeTaken = false) =>
      new ApiError({
        rawCode,
        status,
        maybeTaken,
        message: '',
        context: {},
        issues: [],
        requestId: null,
        retryAfterSeconds: null,
      });
    const away = (maybeTaken: boolean) =>
      new UnreachableError({ address: '', why: '', causeCode: null, maybeTaken });
    for (const lost of [
      api('outcome_unknown', 503),
      api(null, 502),
      api('internal_error', 500),
      api('invalid_state', 409, true),
      away(true),
      new Error('?'),
    ])
      expect(afterFailure(lost).kind).toBe('look_first');
    for (const refused of [
      api('invalid_state', 409),
      api('overloaded', 503),
      api('forbidden', 403),
      away(false),
    ])
      expect(afterFailure(refused).kind).toBe('refused');
  });

  test('who decided meanwhile is found on the timeline', () => {
    const event = (sequence: number, event_type: string) =>
      ({ sequence, event_type }) as Timeline[number];
    const timeline = [
      event(1, 'movement_created'),
      event(2, 'request_rejected'),
      event(3, 'callback_delivered'),
    ];
    expect(decidedSince('approve', timeline, 1)).toEqual([event(2, 'request_rejected')]);
    expect(decidedSince('approve', timeline, 2)).toEqual([]);
    const recorded = [event(4, 'approval_recorded')];
    expect(decidedSince('approve', recorded, 3)).toEqual(recorded);
    expect(decidedSince('reject', recorded, 3)).toEqual([]);
  });

  test('every line of what proves a resolution is sent, under its name or as a reference', () => {
    const proofs = ' A-1 \nstatement=2026-11\n\nhttps://bank.example/?id=3\nstatement= 2026-12';
    const node = { node_key: 'pay', attempt: 1, state: 'UNKNOWN' } as const;
    const choice = { verb: 'resolve', node, consequence: '', reason: null } as const;
    const filledIn = { ...filled, outcome: 'failed', proofs } as const;
    expect(statementOf(choice, make.movement(), null, filledIn).body).toMatchObject({
      attempt: 1,
      evidence: {
        reference: 'A-1',
        statement: '2026-11',
        reference_2: 'https://bank.example/?id=3',
        statement_2: '2026-12',
      },
    });
  });

  test('fields that the API requires must be filled in', () => {
    const [approve, acknowledge, resolve] = (['approve', 'acknowledge', 'resolve'] as const).map(
      (verb) => ({ verb }),
    );
    expect(missing(approve!, { approver_id: ' ', reason: '' })).toContain('who');
    expect(missing(acknowledge!, { approver_id: '', reason: ' ' })).toContain('reason');
    expect(missing(acknowledge!, { approver_id: '', reason: 'x'.repeat(1001) })).toContain('1000');
    expect(missing(resolve!, { ...filled, outcome: 'completed' })).toContain('proves');
    expect(missing(resolve!, { ...filled, outcome: 'failed', proofs: 'a=b' })).toBeNull();
    expect(missing(resolve!, { ...filled, outcome: 'completed', proofs: 'a=b' })).toBeNull();
  });

  test('what completed a node is named once, and its output is sent as an object', () => {
    const node = { node_key: 'pay', attempt: 1, state: 'UNKNOWN' } as const;
    const burn = { verb: 'resolve', node, consequence: '', reason: null } as const;
    const claims = { ...burn, claim_places: ['output.message', 'mint_tx_hashes'] };
    const word = { ...filled, outcome: 'completed', proofs: 'a=b' } as const;
    const output = '{ "message": "0xab", "payments": [{ "amount": "5" }] }';
    const mint_tx_hashes = ['0xcd'];
    expect(missing(claims, word)).toBe(
      'Name what completed it, in output.message, or in mint_tx_hashes.',
    );
    expect(missing(claims, { ...word, output: ' \n' })).toContain('Name what completed it');
    for (const text of [
      ...['{"message": ', '["0xab"]', '"0xab"', 'null', 'message'],
      ...['{"message": "0xab", "message": "0xcd"}', '{"nonce": 9007199254740993}'],
    ])
      expect(missing(claims, { ...word, output: text })).toBe(
        'The output must be a JSON object with each name once and long numbers as text.',
      );
    expect(missing(claims, { ...word, output, mint_tx_hashes })).toContain('not both');
    expect(missing(claims, { ...word, output })).toBeNull();
    expect(missing(claims, { ...word, mint_tx_hashes })).toBeNull();
    expect(missing(claims, { ...word, outcome: 'abandoned' })).toBeNull();
    const body = { outcome: 'completed', reason: 'why', evidence: { a: 'b' }, attempt: 1 };
    const sent = (over: object) =>
      statementOf(claims, make.movement(), null, { ...word, ...over }).body;
    expect(sent({ output })).toEqual({
      ...body,
      output: { message: '0xab', payments: [{ amount: '5' }] },
    });
    expect(sent({ mint_tx_hashes })).toEqual({ ...body, mint_tx_hashes });
    expect(sent({})).toEqual(body);
  });
});

/** Points of a line, close enough that none passes through anything unseen. */
function alongLine(points: readonly { readonly x: number; readonly y: number }[]) {
  return points.slice(1).flatMap((end, index) => {
    const start = points[index]!;
    return Array.from({ length: 41 }, (_, step) => ({
      x: start.x + ((end.x - start.x) * step) / 40,
      y: start.y + ((end.y - start.y) * step) / 40,
    }));
  });
}

describe('the graph', () => {
  const keys = NODE_STATES.map((state, index) => `${state}\u202e<b>${String(index)}`);
  const nodes = [...NODE_STATES.entries()].map(([index, state]) =>
    make.graphNode({
      node_key: keys[index]!,
      state,
      node_kind: NODE_KINDS[index % NODE_KINDS.length]!,
    }),
  );
  const edges = [...EDGE_TYPES.entries()].map(([index, edge_type]) =>
    make.graphEdge({
      from: keys[index]!,
      to: keys[index + 1]!,
      edge_type,
      status: (['fired', 'pending', 'dead', null] as const)[index % 4]!,
      condition_expr: index === 1 ? `\u200b${'x'.repeat(10_000)}` : null,
    }),
  );

  test('every state, kind and edge type has a sign, a word or an outline of its own', () => {
    const { nodes: drawn, edges: lines } = placed(make.graph(nodes, edges));
    expect(new Set(drawn.map(({ sign }) => sign)).size).toBe(NODE_STATES.length);
    expect(new Set(drawn.map(({ stateWord }) => stateWord)).size).toBe(NODE_STATES.length);
    expect(new Set(drawn.map(({ outline }) => outline)).size).toBe(NODE_KINDS.length);
    expect(new Set(lines.map(({ words }) => words)).size).toBe(EDGE_TYPES.length);
    expect(new Set(lines.map(({ stroke }) => stroke)).size).toBe(4);
    for (const { words } of lines) {
      expect(words.length).toBeLessThan(80);
      expect(words).not.toMatch(/[\u200b\u202e]/);
    }
  });

  test('nodes overlap nothing, lines pass by what is not theirs, and names of objects are names', () => {
    const names = ['__proto__', 'constructor', ...'abcdefghijkl'];
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(13), fc.nat(13)), { minLength: 10, maxLength: 60 }),
        (pairs) => {
          const between = pairs
            .filter(([from, to]) => from < to)
            .map(([from, to], index) =>
              make.graphEdge({
                from: names[from]!,
                to: names[to]!,
                edge_type: EDGE_TYPES[index % 5]!,
                condition_expr: index % 2 === 0 ? null : 'dec(intent.amount) > dec("1")',
              }),
            );
          const drawing = placed(
            make.graph(
              names.map((node_key) => make.graphNode({ node_key })),
              between,
            ),
          );
          expect(drawing.nodes.map(({ node_key }) => node_key).toSorted()).toEqual(
            names.toSorted(),
          );
          for (const one of drawing.nodes) {
            expect(one.x - one.width / 2).toBeGreaterThanOrEqual(0);
            expect(one.x + one.width / 2).toBeLessThanOrEqual(drawing.width);
            expect(one.y + one.height / 2).toBeLessThanOrEqual(drawing.height);
            for (const other of drawing.nodes)
              if (one !== other)
                expect(
                  Math.abs(one.x - other.x) >= one.width || Math.abs(one.y - other.y) >= one.height,
                ).toBe(true);
          }
          const boxes = [
            ...drawing.nodes.map(({ node_key, ...box }) => ({ of: node_key, ...box })),
            ...drawing.edges.map(({ label, words }, of) => ({
              of,
              ...label,
              width: 6 * words.length,
              height: 14,
            })),
          ];
          for (const [index, { from, to, points }] of drawing.edges.entries()) {
            expect(points.length).toBeGreaterThan(1);
            for (const { of, x, y, width, height } of boxes)
              for (const at of alongLine(points))
                if (
                  of !== index &&
                  Math.abs(at.x - x) < width / 2 - 1 &&
                  Math.abs(at.y - y) < height / 2 - 1
                )
                  throw new Error(`the line from ${from} to ${to} goes through ${String(of)}`);
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('the sentence', () => {
  test('says what moves, to whom, and why it waits in the words of the service', () => {
    const payees = payeesOf({
      sends: plannedSends(make.plan()),
      movement: { nodes: [make.node()] },
      rows: [make.row({ label: 'desk \u202ereversed' })],
      now: NOW,
    });
    const sentence = sentenceOf(
      make.movement({ attention: APPROVAL }),
      outflowOf(make.plan()),
      payees,
    );
    expect(sentence).toBe(
      'Moves at most 250.5 USDC to desk U+202Ereversed (0x529084…169ee7): it waits for an approval until 11:00.',
    );
  });

  test('without a plan that can be believed it claims nothing of amounts', () => {
    expect(sentenceOf(make.movement(), null, [])).toBe(
      'A run of starter/pay@1: it waits for an approval.',
    );
  });
});
