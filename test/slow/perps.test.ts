/**
 * Money into the perps venue and out of it, through HTTP on a whole stack: the worker is killed and
 * answers are lost in each phase, and the venue's own books show each action once.
 */
import {
  createPublicClient,
  createWalletClient,
  erc20Abi,
  formatUnits,
  http,
  parseUnits,
  toHex,
  type Address,
  type Hex,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { PERP_TEMPLATES, starterTemplates } from '../../dev/stack/starter-templates.ts';
import type { StackPerp } from '../../dev/stack/perp.ts';
import { eventually, ownStack, type Created } from '../support/own-stack.ts';
import { perpBooks, type PerpBooks } from '../support/perp-books.ts';

const LIMIT_MS = 120_000;
const WALLET = 'local-chain:dev-treasury';
/** Used by no other test: an agent's address works once. */
const AGENT_KEYS = [toHex(0xa1, { size: 32 }), toHex(0xa2, { size: 32 })] as const;

interface RouteView {
  readonly template_key: string;
  readonly [field: string]: unknown;
}
interface Balance {
  readonly withdrawable: string;
  readonly svc_effective_withdrawable: string;
  readonly svc_pending_outflow: string;
}
let perp: StackPerp;
let books: PerpBooks;
const own = ownStack({
  perp: true,
  split: true,
  env: { SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: '30', SVC_UNPROVEN_ASK_SECONDS: '1' },
  localSigners: { 'agent-one': AGENT_KEYS[0], 'agent-two': AGENT_KEYS[1] },
});
beforeAll(async () => {
  perp = own.stack.perp!;
  books = perpBooks(perp);
  await fundWallet('100000');
  await own.api.expect(200, 'POST', '/perp-venue/master-account', {
    master_address: perp.account,
    signer_key: 'dev-treasury',
    network: 'testnet',
  });
  await own.api.expect(200, 'POST', '/perp-venue/strategy-bindings', { strategy_id: 'tests' });
  const first = await begin(PERP_TEMPLATES.deposit, '10000');
  await own.api.reaches(first.movement_id, 'COMPLETED', LIMIT_MS);
});
afterEach(async () => {
  await books.faults(null);
  if (own.stack.children['worker']?.pid === null) await own.stack.startChild('worker');
});

/** From the account that has all of the token at first. */
async function fundWallet(amount: string): Promise<void> {
  const { chain } = own.stack;
  const { privateKey } = chain.accounts.venueHotWallet;
  const transport = http(chain.rpcUrl);
  const wallet = createWalletClient({ account: privateKeyToAccount(privateKey as Hex), transport });
  const hash = await wallet.writeContract({
    chain: null,
    abi: erc20Abi,
    address: perp.tokenAddress as Address,
    functionName: 'transfer',
    args: [perp.account as Address, parseUnits(amount, 6)],
  });
  await createPublicClient({ transport }).waitForTransactionReceipt({ hash });
}

/** What somebody has of the token on the chain. */
async function held(owner: string): Promise<number> {
  const client = createPublicClient({ transport: http(own.stack.chain.rpcUrl) });
  const units = await client.readContract({
    abi: erc20Abi,
    address: perp.tokenAddress as Address,
    functionName: 'balanceOf',
    args: [owner as Address],
  });
  return Number(formatUnits(units, 6));
}
const atVenue = async (): Promise<number> => Number(await books.withdrawable(perp.account));
const treasury = (): string => own.stack.chain.accounts.treasury.address;

async function refreshed(): Promise<void> {
  for (const venue of [WALLET, perp.venueKey]) {
    const requestedAt = Date.now();
    await eventually(async () => {
      const path = `/balances?venue_key=${venue}&asset=USDC&fresh=true`;
      const { balances } = await own.api.expect(200, 'GET', path);
      const [pool] = balances as { fetched_at: string }[];
      return pool !== undefined && Date.parse(pool.fetched_at) > requestedAt ? true : null;
    });
  }
}

async function begin(template: string, amount: string): Promise<Created> {
  await refreshed();
  const made = await own.api.create(template, { amount });
  await own.api.approve(made);
  return made;
}

const moveOf = async ({ movement_id }: Created) => {
  const [node] = (await own.api.movement(movement_id)).nodes;
  if (node === undefined) throw new Error('it has no node');
  return node;
};
const reaches = (made: Created, state: string) =>
  eventually(
    async () => {
      const node = await moveOf(made);
      return node.state === state ? node : null;
    },
    { what: () => `the node to be ${state}`, timeoutMs: LIMIT_MS },
  );

/** What the venue has admitted of withdrawals since, and the bodies that brought them. */
async function admittedSince(before: number) {
  const heard = (await books.heard('withdraw3')).slice(before);
  return {
    admitted: heard.filter((call) => call.admitted).length,
    bodies: new Set(heard.map(({ body }) => body)).size,
    calls: heard.length,
  };
}
const withdrawalsHeard = async (): Promise<number> => (await books.heard('withdraw3')).length;

test(
  'a withdrawal leaves the venue once and arrives without its fee, and its record says so',
  async () => {
    const before = { venue: await atVenue(), treasury: await held(treasury()) };
    const made = await begin(PERP_TEMPLATES.withdrawal, '40.25');
    await own.api.reaches(made.movement_id, 'COMPLETED', LIMIT_MS);
    expect(before.venue - (await atVenue())).toBeCloseTo(40.25, 6);
    expect((await held(treasury())) - before.treasury).toBeCloseTo(39.25, 6);
    const { output } = await moveOf(made);
    expect(output).toMatchObject({
      requested_amount: '40.25',
      received_amount: '39.25',
      fee_amount: '1',
      fee_asset: 'USDC',
      destination_address: treasury(),
    });
    const receipt = await createPublicClient({
      transport: http(own.stack.chain.rpcUrl),
    }).getTransactionReceipt({ hash: output?.['tx_hash'] as Hex });
    expect(receipt.status).toBe('success');
  },
  LIMIT_MS,
);

test(
  'what is withdrawn from the exchange goes on to the perps venue, as much as arrived',
  async () => {
    const before = await atVenue();
    const made = await begin(PERP_TEMPLATES.fromExchange, '25.5');
    await own.api.reaches(made.movement_id, 'COMPLETED', LIMIT_MS);
    expect((await atVenue()) - before).toBeCloseTo(25.5, 6);
  },
  LIMIT_MS,
);

test(
  'an answer that is lost after the venue took it changes nothing: the same bytes, taken once',
  async () => {
    const before = { venue: await atVenue(), heard: await withdrawalsHeard() };
    await books.faults({ lose_answer_rate: 1, calls: ['exchange'] });
    const made = await begin(PERP_TEMPLATES.withdrawal, '11');
    await eventually(async () => ((await admittedSince(before.heard)).calls >= 2 ? true : null));
    await books.faults(null);
    await own.api.reaches(made.movement_id, 'COMPLETED', LIMIT_MS);
    expect(await admittedSince(before.heard)).toMatchObject({ admitted: 1, bodies: 1 });
    expect(before.venue - (await atVenue())).toBeCloseTo(11, 6);
  },
  LIMIT_MS,
);

test.each([
  ['while the venue works on the call', { latency_ms: 2_000, calls: ['exchange'] }, 'SUBMITTING'],
  ['while the payment is awaited', { hold_withdrawals: true }, 'OBSERVING'],
])(
  'a worker that dies %s changes nothing',
  async (_when, faults, state) => {
    const before = { venue: await atVenue(), heard: await withdrawalsHeard() };
    await books.faults(faults);
    const made = await begin(PERP_TEMPLATES.withdrawal, '12');
    await reaches(made, state);
    await own.stack.kill('worker');
    await books.faults(null);
    await own.stack.startChild('worker');
    await own.api.reaches(made.movement_id, 'COMPLETED', LIMIT_MS);
    expect(await admittedSince(before.heard)).toMatchObject({ admitted: 1, bodies: 1 });
    expect(before.venue - (await atVenue())).toBeCloseTo(12, 6);
  },
  LIMIT_MS,
);

test(
  'what the venue refuses has failed, and a retry is another action',
  async () => {
    const before = { venue: await atVenue(), heard: await withdrawalsHeard() };
    await books.faults({ reject_next: { text: 'Insufficient balance for withdrawal' } });
    const made = await begin(PERP_TEMPLATES.withdrawal, '13');
    const failed = await reaches(made, 'FAILED');
    expect(failed.error_code).toBe('VENUE_REFUSED');
    expect(await atVenue()).toBe(before.venue);
    await own.api.act('retry', made.movement_id);
    await own.api.reaches(made.movement_id, 'COMPLETED', LIMIT_MS);
    expect(await admittedSince(before.heard)).toEqual({ admitted: 2, bodies: 2, calls: 2 });
    expect(before.venue - (await atVenue())).toBeCloseTo(13, 6);
  },
  LIMIT_MS,
);

test(
  'a strategy that is paused sends nothing, and goes on when it is not',
  async () => {
    const pause = (paused: boolean) =>
      own.api.expect(200, 'POST', '/perp-venue/strategy-bindings/tests/pause', {
        paused,
        reason: 'tried',
      });
    const heard = await withdrawalsHeard();
    await pause(true);
    const made = await begin(PERP_TEMPLATES.withdrawal, '14');
    expect((await reaches(made, 'FAILED')).error_code).toBe('STRATEGY_PAUSED');
    expect(await withdrawalsHeard()).toBe(heard);
    await pause(false);
    await own.api.act('retry', made.movement_id);
    await own.api.reaches(made.movement_id, 'COMPLETED', LIMIT_MS);
  },
  LIMIT_MS,
);

test(
  'what was stopped while its answer was away is not sent again, and goes on when it may',
  async () => {
    const before = { venue: await atVenue(), heard: await withdrawalsHeard() };
    const pause = (paused: boolean) =>
      own.api.expect(200, 'POST', '/perp-venue/strategy-bindings/tests/pause', {
        paused,
        reason: 'tried',
      });
    await books.faults({ refuse_rate: 1, calls: ['exchange'] });
    const made = await begin(PERP_TEMPLATES.withdrawal, '16');
    await eventually(async () => ((await withdrawalsHeard()) > before.heard ? true : null));
    await pause(true);
    await eventually(async () =>
      /paused/i.test((await moveOf(made)).error_message ?? '') ? true : null,
    );
    const calls = await withdrawalsHeard();
    await books.faults(null);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect([await withdrawalsHeard(), await atVenue()]).toEqual([calls, before.venue]);
    await pause(false);
    await own.api.reaches(made.movement_id, 'COMPLETED', LIMIT_MS);
    expect(before.venue - (await atVenue())).toBeCloseTo(16, 6);
  },
  LIMIT_MS,
);

test(
  'a second deposit of an equal amount does not wait: it is not sent while the first is awaited',
  async () => {
    const before = { wallet: await held(perp.account), venue: await atVenue() };
    await books.faults({ confirmations: 1_000 });
    const first = await begin(PERP_TEMPLATES.deposit, '21');
    await reaches(first, 'OBSERVING');
    const second = await begin(PERP_TEMPLATES.deposit, '21');
    expect((await reaches(second, 'FAILED')).error_code).toBe('EQUAL_DEPOSIT_IN_FLIGHT');
    expect(before.wallet - (await held(perp.account))).toBeCloseTo(21, 6);
    await own.stack.kill('worker');
    await books.faults(null);
    await own.stack.startChild('worker');
    await own.api.reaches(first.movement_id, 'COMPLETED', LIMIT_MS);
    await own.api.act('retry', second.movement_id);
    await own.api.reaches(second.movement_id, 'COMPLETED', LIMIT_MS);
    expect((await atVenue()) - before.venue).toBeCloseTo(42, 6);
  },
  LIMIT_MS,
);

test(
  'routes, balances, holds and the allowlist know the venue',
  async () => {
    const { routes } = (await own.api.expect(
      ...([200, 'GET', '/route-catalog?include_health=true'] as const),
    )) as { routes: RouteView[] };
    const route = (key: string) => routes.find(({ template_key }) => template_key === key);
    for (const [key, executor_key, source_venue, destination_venue] of [
      [PERP_TEMPLATES.deposit, 'perp.deposit', null, perp.venueKey],
      [PERP_TEMPLATES.withdrawal, 'perp.withdraw', perp.venueKey, null],
    ] as const)
      expect(route(key)).toMatchObject({
        metadata: { transport_family: 'perp', source_venue, destination_venue, asset: 'USDC' },
        health: { status: 'healthy', executors: [{ executor_key, health_state: 'up' }] },
      });

    const pool = async () => {
      const path = `/balances?venue_key=${perp.venueKey}&asset=USDC&account_type=PERP`;
      const { balances } = await own.api.expect(200, 'GET', path);
      const [only] = balances as Balance[];
      if (only === undefined) throw new Error('there is no such balance');
      return only;
    };
    await books.faults({ hold_withdrawals: true });
    const made = await begin(PERP_TEMPLATES.withdrawal, '33');
    await reaches(made, 'OBSERVING');
    const held = await pool();
    expect(held).toMatchObject({ stale: false, svc_pending_outflow: '33' });
    expect(Number(held.svc_effective_withdrawable)).toBeCloseTo(Number(held.withdrawable) - 33, 6);
    await books.faults(null);
    await own.api.reaches(made.movement_id, 'COMPLETED', LIMIT_MS);
    await refreshed();
    const after = await pool();
    expect(after.svc_pending_outflow).toBe('0');
    expect(after.svc_effective_withdrawable).toBe(after.withdrawable);
    expect(Number(after.withdrawable)).toBeCloseTo(await atVenue(), 6);

    // An address that is on no list; its row would have to name the chain.
    const stranger = `0x${'5a'.repeat(20)}`;
    const template_key = 'tests/perp-withdraw-to-a-stranger';
    const starter = starterTemplates(own.stack.chain, null, perp).find(
      (each) => each.template_key === PERP_TEMPLATES.withdrawal,
    );
    const plan = JSON.stringify({ ...starter, template_key }).replaceAll(treasury(), stranger);
    await own.api.expect(201, 'POST', '/plan-templates', JSON.parse(plan) as object);
    const answer = await own.api.send('POST', '/movements', {
      template_key,
      template_version: 1,
      intent: { asset: 'USDC', amount: '12' },
    });
    expect([answer.status, answer.body['detail']]).toMatchObject([
      422,
      { error: 'address_not_allowlisted', address: stranger, chain_id: perp.chainId },
    ]);
  },
  LIMIT_MS,
);

describe('a top-up', () => {
  const PATH = '/perp-venue/strategy-bindings';
  let turn = 0;
  const bind = async (
    strategy_id: string,
    { sub, most, agent }: { sub: string | null; most: string | null; agent: string },
  ): Promise<void> => {
    await own.api.expect(200, 'POST', PATH, {
      strategy_id,
      sub_account_address: sub,
      max_agent_balance: most,
    });
    const wallets = `${PATH}/${strategy_id}/agent-wallets`;
    await own.api.expect(200, 'POST', wallets, { agent_name: agent, signer_key: agent });
    await eventually(async () => {
      const found = (await own.api.expect(200, 'GET', wallets)) as unknown as { state: string }[];
      return found[0]?.state === 'active' ? true : null;
    });
  };
  const ask = (strategy: string, agent: string, amount: string, key = `top-up-${String(turn++)}`) =>
    own.api.send('POST', `${PATH}/${strategy}/agent-wallets/${agent}/top-up`, {
      asset: 'USDC',
      amount,
      reason: 'more margin',
      idempotency_key: key,
    });

  test(
    "moves to the strategy's own sub-account once, whatever is lost, and never above its most",
    async () => {
      const sub = await books.subAccount('margin');
      await bind('margin', { sub, most: '100', agent: 'agent-one' });
      await refreshed();
      const master = await atVenue();
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => ask('margin', 'agent-one', '30')),
      );
      const made = answers.filter(({ status }) => status === 200);
      expect(made).toHaveLength(3);
      for (const { status, body } of answers)
        if (status !== 200)
          expect([status, (body['detail'] as { error: string }).error]).toEqual([
            409,
            'max_agent_balance_exceeded',
          ]);
      await books.faults({ lose_answer_rate: 1, calls: ['exchange'] });
      const heard = (await books.heard('sendAsset')).length;
      for (const { body } of made) await own.api.approve(body as unknown as Created);
      await eventually(async () =>
        (await books.heard('sendAsset')).length >= heard + 3 ? true : null,
      );
      await own.stack.kill('worker');
      await books.faults(null);
      await own.stack.startChild('worker');
      for (const { body } of made)
        await own.api.reaches(body['movement_id'] as string, 'COMPLETED', LIMIT_MS);
      expect(Number(await books.withdrawable(sub))).toBe(90);
      expect(master - (await atVenue())).toBeCloseTo(90, 6);
      const calls = (await books.heard('sendAsset')).slice(heard);
      expect(calls.filter(({ admitted }) => admitted)).toHaveLength(3);
      expect((await ask('margin', 'agent-one', '11')).status).toBe(409);
      expect((await ask('margin', 'agent-one', '10')).status).toBe(200);
    },
    LIMIT_MS,
  );

  test(
    "of a strategy without one is a deposit by the master's signer, and a repeat is the same",
    async () => {
      await bind('plain', { sub: null, most: null, agent: 'agent-two' });
      await refreshed();
      const before = await atVenue();
      const { status, body } = await ask('plain', 'agent-two', '17', 'the-same');
      expect([status, body['request_state']]).toEqual([200, 'PENDING_APPROVAL']);
      expect((await ask('plain', 'agent-two', '17', 'the-same')).body).toMatchObject({
        movement_id: body['movement_id'],
      });
      expect((await ask('plain', 'agent-two', '18', 'the-same')).body).toMatchObject({
        detail: { error: 'idempotency_conflict', fields: ['amount'] },
      });
      await own.api.approve(body as unknown as Created);
      await own.api.reaches(body['movement_id'] as string, 'COMPLETED', LIMIT_MS);
      expect((await atVenue()) - before).toBeCloseTo(17, 6);
      const created = await own.api.send('POST', '/movements', {
        template_key: 'system/agent-wallet-top-up',
        template_version: 1,
        intent: { asset: 'USDC', amount: '6' },
      });
      expect(created.body).toMatchObject({ detail: { error: 'reserved_template_family' } });
    },
    LIMIT_MS,
  );

  test('is refused for an agent that is not there, an amount that would be lost, and a pause', async () => {
    const error = async (answer: ReturnType<typeof ask>): Promise<unknown> => {
      const { status, body } = await answer;
      return [status, (body['detail'] as { error?: string }).error ?? 'invalid'];
    };
    expect(await error(ask('plain', 'unknown-agent', '17'))).toEqual([
      404,
      'agent_wallet_not_found',
    ]);
    expect((await ask('plain', 'agent-two', '4.999999')).status).toBe(422);
    expect((await ask('margin', 'agent-one', '0.0000001')).status).toBe(422);
    await own.api.expect(200, 'POST', `${PATH}/plain/pause`, { paused: true, reason: 'tried' });
    expect(await error(ask('plain', 'agent-two', '17'))).toEqual([409, 'strategy_paused']);
  });
});
