/**
 * What a team's own executor is held to: it pays from the allowlist only, under whatever name an
 * address is written, and a node of it is completed once it has shown what the plan asks for.
 */
import { z } from 'zod';
import {
  completed,
  defineExecutor,
  notLanded,
  passed,
  prepared,
  type JsonObject,
} from '../../executor-kit/define.ts';
import type { CompletionAssurance } from '../../domain/executor.ts';
import { installRuntime } from '../../executor-kit/runtime.ts';
import { runExecutorWorker, type RunningExecutorWorker } from '../../executor-kit/task-queue.ts';
import { serveExecutor, type ServedExecutor } from '../../executor-kit/http.ts';
import { edge, storeTemplate } from '../support/plans.ts';
import {
  eventually,
  startOwnStack,
  type Created,
  type JsonAnswer,
  type OwnStack,
} from '../support/own-stack.ts';

const GOOD = `0x${'a1'.repeat(20)}`;
const EVIL = `0x${'b2'.repeat(20)}`;
const GOOD_ACCOUNT = 'bc1qgoodgoodgoodgoodgoodgoodgoodgoodgood';
const EVIL_ACCOUNT = 'bc1qevilevilevilevilevilevilevilevilevil';
/** What operators called it, all of which once paid whoever stood there. */
const NAMES = [
  'to',
  'address',
  'wallet_address',
  'wallet',
  'dest',
  'to_wallet',
  'payout_addr',
] as const;

/** Everything that was sent, by the movement that sent it. */
const sent: {
  readonly movement: string;
  readonly config: JsonObject;
  readonly prepared: JsonObject;
}[] = [];

/** What the executor shows of a movement, and how often it was called. */
const shown = new Map<string, CompletionAssurance>();
const looks = new Map<string, number>();

/** A value that a plan holds in an encoding that the service does not read. */
const hidden = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64');
const shownAgain = (text: string): JsonObject =>
  JSON.parse(Buffer.from(text, 'base64').toString()) as JsonObject;

/**
 * Pays whatever it finds; `config.prepares` is what it prepares instead, and `config.signs` what is
 * to be signed for it.
 */
const payer = defineExecutor<JsonObject>({
  name: 'pays whom the config names',
  prepared: z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>,
  preflight: async () => passed(),
  prepare: async ({ config: { prepares, signs, ...config } }) =>
    prepared(
      typeof prepares === 'string' ? shownAgain(prepares) : config,
      typeof signs === 'string'
        ? { kind: 'evm_transaction', payload: shownAgain(signs) }
        : undefined,
    ),
  submit: async ({ context, prepared: action }) => {
    sent.push({ movement: context.movement_id, config: context.config, prepared: action });
    return completed({ external_ref: context.idempotency_key });
  },
  observe: async ({ idempotency_key, movement_id }) => {
    looks.set(movement_id, (looks.get(movement_id) ?? 0) + 1);
    const assurance = shown.get(movement_id);
    return completed({
      external_ref: idempotency_key,
      ...(assurance === undefined ? {} : { assurance }),
    });
  },
  recover: async () => notLanded(),
  cancel: async () => completed(),
});

const QUEUE = 'acme queue';
let served: ServedExecutor;
let own: OwnStack;
let team: RunningExecutorWorker;

beforeAll(async () => {
  served = await serveExecutor(payer, { port: 0, log: () => undefined });
  const entry = (type: string, facts: object) => ({
    executor_key: `acme.${type}`,
    kind: 'remote',
    url: served.url,
    action_types: [`acme_${type}`],
    ...facts,
  });
  own = await startOwnStack({
    allow: [GOOD, GOOD_ACCOUNT],
    executors: () => [
      ...NAMES.map((field) => entry(`pays_${field}`, { payees: [{ field, family: 'evm' }] })),
      entry('account', { payees: [{ field: 'to', family: 'cex' }], not_payees: ['audit.sender'] }),
      entry('no_payee', { payees: [] }),
      entry('watch', { sends: false }),
      // Another one for what the service itself can do.
      entry('chain', {
        action_types: ['evm_native_transfer'],
        provider: 'acme',
        chain_family: 'evm',
      }),
      entry('surely', {
        payees: [],
        completion_assurances: ['destination_observed', 'destination_finalized'],
      }),
      {
        executor_key: 'acme.queue',
        kind: 'task_queue',
        task_queue: QUEUE,
        action_types: ['acme_queue'],
        payees: [],
        completion_assurances: ['destination_finalized'],
      },
    ],
  });
  installRuntime('ERROR');
  team = await runExecutorWorker(payer, {
    address: own.stack.temporalAddress,
    namespace: 'default',
    taskQueue: QUEUE,
  });
  for (const type of [...NAMES.map((field) => `pays_${field}`), 'account', 'no_payee', 'watch'])
    await template(type);
}, 120_000);
afterAll(async () => {
  await team?.stop();
  await own?.close();
  await served?.stop();
});

async function template(type: string, config: object = {}, key = type): Promise<void> {
  const node = {
    node_key: 'pay',
    node_kind: 'action',
    action_type: `acme_${type}`,
    has_side_effect: true,
    config,
  };
  await own.api.expect(201, 'POST', '/plan-templates', {
    template_key: `own/${key}`,
    version: 1,
    name: key,
    nodes: [node],
    edges: [],
    completion_policy: { completion_assurance: 'provider_completed' },
  });
}

const attempt = (type: string, node_config: object, more: object = {}): Promise<JsonAnswer> =>
  own.api.send('POST', '/movements', {
    template_key: `own/${type}`,
    template_version: 1,
    intent: { asset: 'USDC', amount: '1' },
    input_params: { node_config },
    ...more,
  });

const sentBy = (movement: Created) =>
  sent.filter(({ movement: id }) => id === movement.movement_id);

/** Creates and approves; answers the movement once it is what it should become. */
async function runs(
  type: string,
  node_config: object,
  end: 'COMPLETED' | 'FAILED',
): Promise<Created> {
  const answer = await attempt(type, node_config);
  expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
  const movement = answer.body as unknown as Created;
  await own.api.approve(movement);
  const { nodes } = await own.api.reaches(movement.movement_id, end);
  if (end === 'FAILED') {
    expect(nodes.map(({ error_code }) => error_code)).toEqual(['ADDRESS_NOT_ALLOWLISTED']);
    expect(sentBy(movement)).toEqual([]);
  }
  return movement;
}

function refused(answer: JsonAnswer, detail: object): void {
  expect([answer.status, answer.body]).toEqual([
    422,
    {
      detail: expect.objectContaining({
        error: 'address_not_allowlisted',
        node_key: 'pay',
        ...detail,
      }),
    },
  ]);
}

describe.each(NAMES)('an address that a request calls %s', (field) => {
  test('is refused at creation where it is on no list, declared or not', async () => {
    refused(await attempt(`pays_${field}`, { [field]: EVIL }), { address: EVIL });
    refused(await attempt('no_payee', { [field]: EVIL }), { address: EVIL });
    refused(await attempt(`pays_${field}`, { [field]: `0x${'0'.repeat(24)}${EVIL.slice(2)}` }), {
      address: EVIL,
    });
    refused(await attempt(`pays_${field}`, { [field]: EVIL_ACCOUNT }), {
      address: EVIL_ACCOUNT,
      problem: expect.any(String),
    });
  });

  test('is paid from the list', async () => {
    const movement = await runs(`pays_${field}`, { [field]: GOOD }, 'COMPLETED');
    expect(sentBy(movement)).toEqual([expect.objectContaining({ prepared: { [field]: GOOD } })]);
  });
});

describe('an account that is no address of a chain', () => {
  test('is required when it is paid, and paid from the list', async () => {
    await runs('account', { to: EVIL_ACCOUNT }, 'FAILED');
    const movement = await runs(
      'account',
      { to: GOOD_ACCOUNT, audit: { sender: EVIL } },
      'COMPLETED',
    );
    expect(sentBy(movement)).toHaveLength(1);
  });

  test('is no way to an address beside it', async () => {
    refused(await attempt('account', { to: GOOD_ACCOUNT, wallet: EVIL }), { address: EVIL });
    refused(
      await attempt(
        'account',
        { to: GOOD_ACCOUNT },
        { input_params: { node_config: { to: GOOD_ACCOUNT }, wallet: EVIL } },
      ),
      {
        address: EVIL,
      },
    );
  });

  test.each<[string, object]>([
    ['no account', {}],
    ['a number', { to: 7 }],
    ['an object', { to: { account: GOOD_ACCOUNT } }],
  ])('cannot be %s', async (_name, config) => {
    refused(await attempt('account', config), {
      address: '',
      problem: expect.stringMatching(/^to /),
    });
  });
});

describe('a preview', () => {
  const preview = async (type: string, config: object) => {
    const node = {
      node_key: 'pay',
      node_kind: 'action',
      action_type: `acme_${type}`,
      has_side_effect: false,
      config,
    };
    const template_key = await storeTemplate(own.api, [node], { assurance: 'provider_completed' });
    const body = { template_key, template_version: 1, intent: { asset: 'USDC', amount: '25' } };
    const answer = await own.api.send('POST', '/movements', body, { 'dry-run': 'true' });
    return { outflow: answer.body['outflow'], allowlist: answer.body['allowlist'] };
  };

  test('shows what a node of a team can move, and whom it would pay, whatever its template says of side effects', async () => {
    expect(await preview('account', { to: EVIL_ACCOUNT })).toEqual({
      outflow: [{ asset: 'USDC', amount: '25' }],
      allowlist: [
        {
          node_key: 'pay',
          address: EVIL_ACCOUNT,
          chain_id: null,
          allowed: false,
          usable_after: null,
        },
      ],
    });
    expect(await preview('watch', { to: EVIL_ACCOUNT })).toEqual({ outflow: [], allowlist: [] });
  });
});

describe('what was prepared', () => {
  test.each<[string, string, object, object]>([
    ['somebody else', 'account', { to: GOOD_ACCOUNT }, { to: EVIL_ACCOUNT }],
    ['one more', 'account', { to: GOOD_ACCOUNT }, { to: [GOOD_ACCOUNT, EVIL_ACCOUNT] }],
    ['no account', 'account', { to: GOOD_ACCOUNT }, { amount: '1' }],
    ['another one of the list', 'pays_to', { to: GOOD }, { to: GOOD_ACCOUNT }],
    [
      'an address that is not declared',
      'account',
      { to: GOOD_ACCOUNT },
      { to: GOOD_ACCOUNT, fee: { wallet: EVIL } },
    ],
    ['one where no account is paid', 'no_payee', {}, { deep: [{ x: EVIL }] }],
  ])('must not name %s', async (_name, type, config, prepares) => {
    await runs(type, { ...config, prepares: hidden(prepares) }, 'FAILED');
  });

  test('may name the plan’s payee and what is declared to be none', async () => {
    const prepares = { to: [GOOD_ACCOUNT], audit: { sender: EVIL } };
    const movement = await runs(
      'account',
      { to: GOOD_ACCOUNT, prepares: hidden(prepares) },
      'COMPLETED',
    );
    expect(sentBy(movement)).toEqual([expect.objectContaining({ prepared: prepares })]);
  });
});

test('an executor that sends nothing needs no address', async () => {
  const movement = await runs('watch', { wallet: EVIL }, 'COMPLETED');
  expect(sentBy(movement)).toHaveLength(1);
});

describe('a plan that asks for more than the provider’s word', () => {
  const node = (node_key: string, type: string, config: object = {}) => ({
    node_key,
    node_kind: 'action',
    action_type: `acme_${type}`,
    has_side_effect: true,
    config,
  });

  test.each(['surely', 'queue'])('is not completed by %s before it is shown', async (type) => {
    const movement = await own.api.create(
      await storeTemplate(own.api, [node('pay', type)], { assurance: 'destination_credited' }),
      {
        amount: '1',
      },
    );
    const { movement_id } = movement;
    await own.api.approve(movement);
    const called = (times: number) =>
      eventually(async () => ((looks.get(movement_id) ?? 0) >= times ? true : null));
    await called(2);
    shown.set(movement_id, 'destination_observed');
    const before = looks.get(movement_id) ?? 0;
    await called(before + 2);
    expect((await own.api.movement(movement_id)).nodes.map(({ state }) => state)).toEqual([
      'OBSERVING',
    ]);
    shown.set(movement_id, 'destination_finalized');
    await own.api.reaches(movement_id, 'COMPLETED');
    expect(sentBy(movement)).toHaveLength(1);
  });

  test('is refused where its last node can never show it, and foreseen', async () => {
    const template_key = await storeTemplate(
      own.api,
      [node('first', 'surely'), node('last', 'no_payee')],
      {
        assurance: 'destination_credited',
      },
    );
    const body = { template_key, template_version: 1, intent: { asset: 'USDC', amount: '1' } };
    const fault = {
      node_key: 'last',
      executor_key: 'acme.no_payee',
      asked: 'destination_credited',
      supported: ['provider_completed'],
    };
    const detail = expect.objectContaining({
      error: 'completion_assurance_unsupported',
      ...fault,
      nodes: [fault],
    }) as unknown;
    expect(await own.api.send('POST', '/movements', body)).toEqual({
      status: 422,
      body: { detail },
    });
    const preview = await own.api.send('POST', '/movements', body, { 'dry-run': 'true' });
    expect(preview.body).toMatchObject({ would_create: false, blocking_reasons: [detail] });
  });

  test('asks the nodes before the last for the provider’s word, or for what the template says', async () => {
    const nodes = [node('first', 'no_payee'), node('last', 'surely')];
    const made = await own.api.create(
      await storeTemplate(own.api, nodes, { assurance: 'destination_credited' }),
      { amount: '1' },
    );
    shown.set(made.movement_id, 'destination_credited');
    await own.api.approve(made);
    await own.api.reaches(made.movement_id, 'COMPLETED');
    const stricter = [
      node('first', 'no_payee', { completion_assurance: 'destination_observed' }),
      node('last', 'surely'),
    ];
    const template_key = await storeTemplate(own.api, stricter, {
      edges: [edge('first', 'last')],
      assurance: 'provider_completed',
    });
    const body = { template_key, template_version: 1, intent: { asset: 'USDC', amount: '1' } };
    expect((await own.api.send('POST', '/movements', body)).body).toMatchObject({
      detail: {
        error: 'completion_assurance_unsupported',
        node_key: 'first',
        asked: 'destination_observed',
      },
    });
  });
});

describe('a transaction that it asks to be signed', () => {
  /**
   * The planned payment of 0.01 to the list's address, in every field but what its gas may cost.
   */
  async function asks(
    max_fee_per_gas: string,
    end: 'COMPLETED' | 'FAILED',
  ): Promise<{ readonly movement: Created; readonly code: unknown; readonly message: unknown }> {
    const { chainId } = own.stack.chain;
    const payload = {
      chain_id: chainId,
      to: GOOD,
      value: '10000000000000000',
      data: '0x',
      gas: '50000',
      max_fee_per_gas,
      max_priority_fee_per_gas: '1',
    };
    const action_type = 'evm_native_transfer';
    const node = {
      node_key: 'pay',
      node_kind: 'action',
      action_type,
      has_side_effect: true,
      executor_selector: { action_type, provider: 'acme' },
      signer_selector: { chain_family: 'evm', profile: 'treasury' },
      config: {
        asset: 'ETH',
        chain_id: chainId,
        destination_address: GOOD,
        signs: hidden(payload),
      },
    };
    const movement = await own.api.create(
      await storeTemplate(own.api, [node], { assurance: 'provider_completed' }),
      {
        amount: '0.01',
        intent: { asset: 'ETH' },
      },
    );
    await own.api.approve(movement);
    const { nodes } = await own.api.reaches(movement.movement_id, end);
    const [{ error_code, error_message } = {}] = nodes as readonly {
      error_code?: unknown;
      error_message?: unknown;
    }[];
    return { movement, code: error_code, message: error_message };
  }

  /** A nonce is claimed before anything is signed, so without one nothing was. */
  async function expectNothingSigned(movement: Created): Promise<void> {
    expect(sentBy(movement)).toEqual([]);
    expect(
      await own.query('SELECT nonce FROM evm_transactions WHERE movement_id = $1', [
        movement.movement_id,
      ]),
    ).toEqual([]);
  }

  test('may not cost the signer more than its chain allows, which is 0.05 of the coin', async () => {
    const { movement, code, message } = await asks('1000000000001', 'FAILED');
    expect([code, message]).toEqual([
      'SIGN_REQUEST_MISMATCH',
      'gas may cost 50000000000050000 wei, more than the 50000000000000000 allowed',
    ]);
    await expectNothingSigned(movement);
  });

  test('may cost it all of that, and is sent by the service where its executor does not', async () => {
    const { movement } = await asks('1000000000000', 'COMPLETED');
    expect(sentBy(movement)).toHaveLength(1);
    const [transfer, ...more] = await eventually(
      async () => {
        const signed = await own.query<{ mined_hash: string | null }>(
          'SELECT mined_hash FROM evm_transactions WHERE movement_id = $1',
          [movement.movement_id],
        );
        return signed.every(({ mined_hash }) => mined_hash !== null) ? signed : null;
      },
      { what: () => 'its block to be final' },
    );
    expect([transfer?.mined_hash, more]).toEqual([expect.stringMatching(/^0x/), []]);
  });
});
