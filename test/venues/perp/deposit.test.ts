/** Deposits at the simulated venue from a real chain: what is sent, and what completes it. */
import { pad } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { PERP_BRIDGE } from '../../../dev/simulators/perp/settings.ts';
import type { ExecutionContext, ExecutionResult } from '../../../domain/executor.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { NamedClaim } from '../../../domain/claim-reader.ts';
import { createEvmChains } from '../../../venues/evm/client.ts';
import { createEvmSigning } from '../../../venues/evm/signing.ts';
import { createPerpClient, type PerpClient } from '../../../venues/perp/client.ts';
import { perpActs } from '../../../venues/perp/lane.ts';
import { createCreditReader } from '../../../venues/perp/named-credit.ts';
import { eventually, usdb } from '../../dev/bridge-stack.ts';
import { TOKEN, WHALE, low, someone, tokensOf } from '../../dev/perp-stack.ts';
import { HOUR, call, contextOf, entriesOf, masterOf, mined, openDesk } from './perp-desk.ts';
import { started } from '../../support/started.ts';
import { startAnswering } from '../answering.ts';

const desk = started(() => openDesk());

beforeEach(() => desk.perp.faults({ confirmations: 1 }));

const whale = privateKeyToAccount(WHALE.privateKey);
const OTHER = someone('is paid instead').address;

const master = (change?: (client: PerpClient) => PerpClient) => masterOf(desk, whale, change);

const deposit = (amount = '12.5', config: JsonObject = {}): ExecutionContext =>
  contextOf(master(), {
    action_type: 'perp_deposit',
    amount,
    config: {
      venue: 'perp',
      chain_id: desk.settings.chainId,
      token_address: TOKEN,
      destination_address: PERP_BRIDGE.address,
      ...config,
    },
  });

/** A desk whose endpoint reports that the token has eight decimals. */
async function withEight(work: (of: Parameters<typeof masterOf>[0]) => Promise<void>) {
  const endpoint = await startAnswering(desk.settings.rpcUrl, ({ data }) =>
    data.startsWith('0x313ce567') ? { result: pad('0x8', { size: 32 }) } : null,
  );
  const settings = { ...desk.settings, rpcUrl: endpoint.url };
  try {
    // The started desk has its parts by their names only, and spreading it copies none.
    await work({ ...desk, url: desk.url, settings });
  } finally {
    await endpoint.close();
  }
}

const at = (context: ExecutionContext, now_ms: number): ExecutionContext => ({
  ...context,
  perp: { ...context.perp!, now_ms },
});

describe('a deposit', () => {
  it('is completed by the row of its transaction with all of its amount', async () => {
    const { deposit: executor } = master();
    const held = await tokensOf(desk.chain, PERP_BRIDGE.address);
    const sent = await mined(desk, master(), deposit());
    const answer = await eventually(async () => {
      const result = await executor.observe(sent.context, call(), sent.journal);
      return result.next_state === 'OBSERVING' ? null : result;
    });
    expect(answer).toMatchObject({
      next_state: 'COMPLETED',
      external_ref: sent.hash,
      output: {
        tx_hash: sent.hash,
        ledger_hash: sent.hash,
        requested_amount: '12.5',
        ledger_account: low(whale.address),
        submitted_amount: '12.5',
        received_amount: '12.5',
        fee_asset: 'ETH',
        fee_amount: expect.any(String),
        block_number: expect.anything(),
      },
    });
    expect(answer.assurance).toBe('destination_credited');
    expect(await tokensOf(desk.chain, PERP_BRIDGE.address)).toBe(held + usdb('12.5'));
    expect(await executor.recover(sent.context, call(), sent.journal)).toMatchObject({
      next_state: 'COMPLETED',
    });
  });

  it('is what a person names only where the ledger shows it', async () => {
    const entries = entriesOf(desk, whale.address);
    const client = createPerpClient(entries.perp, { freshMs: 20 });
    const reader = createCreditReader({ client, venue: entries.perp });
    const sent = await mined(desk, master(), deposit('14'));
    const read = (output: JsonObject, more: Partial<NamedClaim> = {}) =>
      reader.read(
        {
          ...{ movement_id: 'm', action_type: 'perp_deposit', asset: 'USDC', amount: '14' },
          config: sent.context.config,
          ...{ external_ref: sent.hash, prepared_action: {}, recorded: {} },
          ...{ matched: null, from: null, output },
          ...more,
        },
        AbortSignal.timeout(20_000),
      );
    const own = { ledger_hash: sent.hash };
    const nowhere = `0x${'ab'.repeat(32)}`;
    expect(await read({ ledger_hash: nowhere })).toMatchObject({ ok: false, reason: 'not_found' });
    const shown = await eventually(async () => {
      const found = await read(own);
      return found.ok ? found : null;
    });
    expect(shown.output).toMatchObject({
      ...own,
      received_amount: '14',
      ledger_account: low(whale.address),
    });
    // Another amount than was sent is credited only where the person says so, too.
    expect(await read(own, { amount: '15' })).toMatchObject({
      ...{ ok: false, reason: 'differs', found: { received_amount: '14' } },
    });
    expect(await read({ ...own, received_amount: '14' }, { amount: '15' })).toMatchObject({
      ...{ ok: true, output: { received_amount: '14' } },
    });
    expect(await read(own, { recorded: { ledger_account: OTHER } })).toMatchObject({
      ...{ ok: false, reason: 'differs' },
    });
    await client.close();
  });

  test.each([30, -30])('is found by a clock of ours that is %d hours apart', async (hours) => {
    const context = at(deposit('17'), Date.now() + hours * HOUR);
    const sent = await mined(desk, master(), context);
    const answer = await eventually(async () => {
      const result = await master().deposit.observe(sent.context, call(), sent.journal);
      return result.next_state === 'OBSERVING' ? null : result;
    });
    expect(answer).toMatchObject({ next_state: 'COMPLETED', external_ref: sent.hash });
  });

  it('that is not credited is observed further, and shown after minutes', async () => {
    await desk.perp.faults({ confirmations: 1, ledger_delay_ms: 600_000 });
    const { deposit: executor } = master();
    const sent = await mined(desk, master(), deposit('13'));
    const first = await executor.observe(sent.context, call(), sent.journal);
    expect(first).toMatchObject({ next_state: 'OBSERVING', output: { tx_hash: sent.hash } });
    expect(first.error_code).toBeUndefined();
    expect(first.output).not.toHaveProperty('received_amount');
    const prior = { ...sent.context.prior, output: first.output ?? {} };
    const began = Number(first.output?.['credit_awaited_ms']);
    const look = (later: number): Promise<ExecutionResult> =>
      executor.observe(at({ ...sent.context, prior }, began + later), call(), sent.journal);
    expect((await look(599_000)).error_code).toBeUndefined();
    for (const later of [600_000, 400 * 86_400_000])
      expect(await look(later)).toMatchObject({
        next_state: 'OBSERVING',
        error_code: 'DEPOSIT_NOT_CREDITED',
      });
    await desk.perp.faults({ confirmations: 1 });
    await eventually(async () => ((await look(600_000)).next_state === 'COMPLETED' ? true : null));
  });

  it('is completed by no other amount, transaction or kind of row', async () => {
    const sent = await mined(desk, master(), deposit('14'));
    const observedWith = (delta: JsonObject, hash: string = sent.hash) =>
      master((client) => ({
        ...client,
        ledger: () =>
          Promise.resolve([{ time: 1, hash, delta: { type: 'deposit', usdc: '14.0', ...delta } }]),
      })).deposit.observe(sent.context, call(), sent.journal);
    for (const usdc of ['13.0', '14.000001', '140', 'x', '']) {
      expect([usdc, await observedWith({ usdc })]).toMatchObject([
        usdc,
        { next_state: 'OBSERVING', error_code: 'DEPOSIT_AMOUNT_MISMATCH' },
      ]);
    }
    expect((await observedWith({}, `0x${'1'.repeat(64)}`)).next_state).toBe('OBSERVING');
    expect((await observedWith({ type: 'withdraw' })).next_state).toBe('OBSERVING');
    for (const usdc of ['14', '14.0', '14.000000'])
      expect(
        (await observedWith({ usdc }, sent.hash.toUpperCase().replace('0X', '0x'))).next_state,
      ).toBe('COMPLETED');
  });

  it('that was sent in a token of other decimals is looked at all the same', async () => {
    const sent = await mined(desk, master(), deposit('500'));
    await withEight(async (of) => {
      const { deposit: executor } = masterOf(of, whale);
      // As many base units as were sent, if the token had eight decimals.
      const context = { ...sent.context, amount: '5' };
      for (const phase of ['observe', 'recover'] as const)
        expect(await executor[phase](context, call(), sent.journal)).toMatchObject({
          next_state: 'OBSERVING',
          external_ref: sent.hash,
        });
    });
  });

  it('whose ledger is silent is known to be sent', async () => {
    const sent = await mined(desk, master(), deposit('15'));
    await desk.perp.faults({ rate_limited: true, calls: ['info'] });
    const { deposit: executor } = master();
    await expect(executor.observe(sent.context, call(), sent.journal)).rejects.toMatchObject({
      name: 'ExecutorFault',
    });
    expect(await executor.recover(sent.context, call(), sent.journal)).toMatchObject({
      next_state: 'OBSERVING',
      external_ref: sent.hash,
    });
  });
});

describe('nothing is deposited', () => {
  const codeOf = async (context: ExecutionContext, of = master()) => {
    const [checked, prepared] = [
      await of.deposit.preflight(context, call()),
      await of.deposit.prepare(context, call()),
    ];
    expect(prepared.error_code).toBe(checked?.error_code);
    return checked?.error_code ?? null;
  };

  test.each([
    ['below the least amount', '4.999999', {}, 'DEPOSIT_BELOW_MINIMUM'],
    ['with more decimals than the venue has', '5.0000001', {}, 'AMOUNT_TOO_PRECISE'],
    ['that is nothing', '0', {}, 'CONFIG_INVALID'],
    ['to another address', '5', { destination_address: OTHER }, 'CONFIG_INVALID'],
    [
      'in the token that it is paid to',
      '5',
      { token_address: PERP_BRIDGE.address },
      'CONFIG_INVALID',
    ],
    ['from another chain', '5', { chain_id: 1 }, 'CONFIG_INVALID'],
    ['of another token', '5', { token_address: OTHER }, 'TOKEN_ASSET_MISMATCH'],
    ['at another venue', '5', { venue: 'other' }, 'CONFIG_INVALID'],
    ['of more than there is', '99999999999', {}, 'INSUFFICIENT_FUNDS'],
  ])('%s', async (_name, amount, config, code) => {
    expect(await codeOf(deposit(amount, config as JsonObject))).toBe(code);
  });

  it('of a token that counts in other decimals than the venue', async () => {
    await withEight(async (of) => {
      expect(await codeOf(deposit('5'), masterOf(of, whale))).toBe('TOKEN_DECIMALS_MISMATCH');
    });
  });

  it('below the least amount, and the least amount is', async () => {
    expect(await codeOf(deposit('5'))).toBeNull();
  });

  it('beyond what a strategy that works with the account may have there', async () => {
    const bounded = (account_bound: string): ExecutionContext => {
      const context = deposit('5');
      return { ...context, perp: { ...context.perp!, account_bound } };
    };
    expect(await codeOf(bounded('4.99'))).toBe('MAX_AGENT_BALANCE_EXCEEDED');
    expect(await codeOf(bounded('100000000'))).toBeNull();
  });

  it('by another account than the master', async () => {
    const context = deposit();
    const signer = { signer_key: 's', chain_family: 'evm', address: OTHER };
    expect(await codeOf({ ...context, signer })).toBe('DEPOSITOR_NOT_MASTER');
    const perp = { ...context.perp!, master_address: low(OTHER) };
    expect(await codeOf({ ...context, perp })).toBe('DEPOSITOR_NOT_MASTER');
    expect(await codeOf(context)).toBeNull();
  });

  it('by another rail, or into an account of another mode', async () => {
    await desk.perp.faults({ usdc_route: 'cctp' });
    expect(await codeOf(deposit())).toBe('VENUE_ROUTE_CLOSED');
    await desk.perp.faults({});
    const observedWith = master((client) => ({
      ...client,
      mode: () => Promise.resolve('portfolioMargin'),
    }));
    expect(await codeOf(deposit(), observedWith)).toBe('ACCOUNT_MODE_UNSUPPORTED');
  });
});

describe('what is signed', () => {
  const { address } = whale;
  function bench(of: Parameters<typeof entriesOf>[0]) {
    const { evm, perp } = entriesOf(of, address);
    const chains = createEvmChains([evm]);
    return { chains, signing: createEvmSigning(chains, [perpActs(perp, [evm])]) };
  }
  const nodeOf = ({ node_key, action_type, config, asset, amount, perp }: ExecutionContext) => ({
    node: { node_key, action_type, config, asset },
    executor: undefined,
    intent: { asset, amount },
    input_params: {},
    amount,
    ...(perp === undefined ? {} : { perp }),
  });
  type Request = NonNullable<ExecutionResult['sign_request']>;
  const check = (
    context: ExecutionContext,
    request: Request,
    foreign = false,
    of: Parameters<typeof entriesOf>[0] = desk,
  ) =>
    bench(of).signing.check(
      nodeOf(context),
      { request, from: address, foreign, now_ms: Date.now() },
      call(),
    );
  const requestOf = async (context: ExecutionContext, executor = master().deposit) => {
    const { sign_request, error_message } = await executor.prepare(context, call());
    if (sign_request === undefined) throw new Error(error_message);
    return sign_request;
  };

  it('for a deposit is exactly the transfer that the plan says', async () => {
    const request = await requestOf(deposit());
    expect(await check(deposit(), request)).toBeNull();
    expect(await check(deposit('12.6'), request)).toContain('moves');
    expect(await check(deposit('4'), request)).toContain('lost');
    expect(await check(deposit('12.5', { destination_address: OTHER }), request)).toContain(
      'go to',
    );
    const native = { ...request.payload, to: PERP_BRIDGE.address, data: '0x' };
    expect(await check(deposit(), { ...request, payload: native })).not.toBeNull();
  });

  it('is no deposit of a token with other decimals, whoever made it', async () => {
    // As many base units as five of it would be, if the token had eight decimals.
    const request = await requestOf(deposit('500'));
    await withEight(async (of) => {
      await expect(check(deposit('5'), request, true, of)).rejects.toMatchObject({
        kind: 'rejected',
        code: 'TOKEN_DECIMALS_MISMATCH',
      });
    });
  });

  async function signRequest(change: object = {}) {
    await desk.perp.fund(low(address), { perp: '100' });
    const context = contextOf(master(), {
      action_type: 'perp_withdraw',
      amount: '7',
      config: {
        venue: 'perp',
        chain_id: desk.settings.chainId,
        destination_address: OTHER,
        ...change,
      },
    });
    return { context, request: await requestOf(context, master().withdraw) };
  }

  it('for a withdrawal is exactly the message of plan and nonce, signed by the master alone', async () => {
    const { context, request } = await signRequest();
    expect(await check(context, request)).toBeNull();
    expect(await check(context, request, true)).toContain('only our own executor');
    const { domain, types, primaryType, message } = request.payload as Record<string, JsonObject>;
    const others: readonly JsonObject[] = [
      { ...request.payload, message: { ...message, amount: '8' } },
      { ...request.payload, message: { ...message, amount: '7.0' } },
      { ...request.payload, message: { ...message, destination: low(whale.address) } },
      { ...request.payload, message: { ...message, hyperliquidChain: 'Mainnet' } },
      { ...request.payload, message: { ...message, time: Number(message?.['time']) + 1 } },
      { ...request.payload, message: { ...message, more: 1 } },
      { ...request.payload, domain: { ...domain, chainId: 1 } },
      { ...request.payload, types: { ...types, Other: [] } },
      { domain: domain ?? {}, types: types ?? {}, message: message ?? {} },
    ];
    expect(primaryType).toBeDefined();
    for (const payload of others)
      expect([payload, await check(context, { ...request, payload })]).toEqual([
        payload,
        expect.stringContaining('differs from the plan'),
      ]);
    const perp = { ...context.perp!, action: { nonce: 1 } };
    expect(await check({ ...context, perp }, request)).toContain('differs from the plan');
    const { action: _none, ...without } = context.perp!;
    expect(await check({ ...context, perp: without }, request)).toContain('no nonce');
    const transaction = await requestOf(deposit());
    expect(await check(context, transaction)).toContain('a message');
  });
});
