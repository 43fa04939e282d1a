/** Withdrawals and top-ups at the simulated venue: what is sent, how often, and what it proves. */
import { jest } from '@jest/globals';
import { deposit, low, rowsOf, someone, tokensOf } from '../../dev/perp-stack.ts';
import { eventually, usdb } from '../../dev/bridge-stack.ts';
import type { ExecutionResult } from '../../../domain/executor.ts';
import {
  HOUR,
  NO_JOURNAL,
  RESTORED,
  call,
  contextOf,
  masterOf,
  nextNonce,
  openDesk,
  signedBy,
  withdrawal,
  type Master,
  type Signed,
} from './perp-desk.ts';
import { started } from '../../support/started.ts';

const desk = started(() => openDesk());
beforeAll(async () => {
  await deposit(desk.chain, usdb('5000'));
});

beforeEach(() => desk.perp.faults({ withdrawal_seconds: 0, confirmations: 1 }));

const PAID = low(someone('is paid').address);

/** A master with a hundred on perp. */
async function newMaster(name: string): Promise<Master> {
  const master = masterOf(desk, someone(name));
  await desk.perp.fund(master.address, { perp: '100' });
  return master;
}

const signedWithdrawal = (master: Master, amount = '11', nonce?: number): Promise<Signed> =>
  signedBy(
    master,
    master.withdraw,
    contextOf(
      master,
      withdrawal(desk, amount, PAID, nonce === undefined ? undefined : { action: { nonce } }),
    ),
  );

/** Every call of /exchange with this nonce. */
const heard = async ({ nonce }: Signed) =>
  (await desk.perp.heard()).filter(
    (each) => each.nonce === nonce || each.body.includes(`${nonce}`),
  );

/** All of them are the same bytes, and one was admitted at most. */
async function expectOnce(signed: Signed, calls: number): Promise<void> {
  const all = await heard(signed);
  expect(all).toHaveLength(calls);
  expect(new Set(all.map(({ body }) => body)).size).toBe(1);
  expect(all.filter(({ admitted }) => admitted)).toHaveLength(1);
}

const ended = (signed: Signed): Promise<ExecutionResult> =>
  eventually(async () => {
    const answer = await signed.observe();
    return answer.next_state === 'OBSERVING' ? null : answer;
  });

describe('a withdrawal', () => {
  it('is paid once, less the fee, and completed by the row with its nonce', async () => {
    const master = await newMaster('withdraws');
    // Of the same amount, so that only the nonce tells them apart.
    const other = await signedWithdrawal(master);
    const signed = await signedWithdrawal(master);
    const ref = `${master.address}:${String(signed.nonce)}`;
    await other.send();
    await ended(other);
    expect(await signed.observe()).toMatchObject({ next_state: 'OBSERVING' });
    expect(await signed.send()).toMatchObject({
      next_state: 'SUBMITTED',
      external_ref: ref,
      output: { admitted: true },
    });
    const before = await tokensOf(desk.chain, PAID);
    const answer = await ended(signed);
    expect(answer).toMatchObject({
      next_state: 'COMPLETED',
      external_ref: ref,
      assurance: 'provider_completed',
      output: {
        requested_amount: '11',
        submitted_amount: '11',
        received_amount: '10',
        fee_amount: '1',
        fee_asset: 'USDC',
        nonce: signed.nonce,
      },
    });
    const rows = await rowsOf(desk.perp, master.address, 'withdraw');
    const row = rows.find(({ delta }) => delta['nonce'] === signed.nonce * 1_000);
    const hash = row?.hash ?? '0x';
    expect(answer.output).toMatchObject({ tx_hash: hash, ledger_hash: hash });
    const receipt = await desk.chain.client.getTransactionReceipt({ hash });
    expect(receipt.status).toBe('success');
    expect(await tokensOf(desk.chain, PAID)).toBe(before + usdb('10'));
    expect(await signed.recover()).toMatchObject({ next_state: 'COMPLETED' });
    await expectOnce(signed, 1);
  });

  it('is completed by its row though its nonce is half a day ahead of the venue', async () => {
    const master = await newMaster('is ahead');
    const signed = await signedWithdrawal(master, '11', Date.now() + 12 * HOUR);
    await signed.send();
    expect(await ended(signed)).toMatchObject({ next_state: 'COMPLETED' });
    expect(await signed.recover()).toMatchObject({ next_state: 'COMPLETED' });
    await expectOnce(signed, 1);
  });

  test.each([
    ['lose_answer_rate', 1],
    ['garbage_rate', 1],
  ])('that was carried out without an answer (%s) is sent again and found', async (fault, rate) => {
    const master = await newMaster(`loses ${fault}`);
    const signed = await signedWithdrawal(master);
    await desk.perp.faults({ [fault]: rate, calls: ['exchange'], hold_withdrawals: true });
    await expect(signed.send()).rejects.toMatchObject({ name: 'ExecutorFault' });
    await expect(signed.recover()).rejects.toMatchObject({ name: 'ExecutorFault' });
    await desk.perp.faults({ withdrawal_seconds: 0, confirmations: 1 });
    const ref = `${master.address}:${String(signed.nonce)}`;
    expect(await signed.recover()).toMatchObject({
      next_state: 'OBSERVING',
      external_ref: ref,
      output: { admitted: true },
    });
    await expectOnce(signed, 3);
    expect(await ended(signed)).toMatchObject({ next_state: 'COMPLETED' });
    expect(await desk.perp.perp(master.address)).toBe('89.0');
    await expectOnce(signed, 3);
  });

  test.each([['rate_limited', true] as const, ['refuse_rate', 1] as const])(
    'that did not reach the venue (%s) is sent by the recovery',
    async (fault, value) => {
      const master = await newMaster(`does not reach ${fault}`);
      const signed = await signedWithdrawal(master);
      await desk.perp.faults({ [fault]: value, calls: ['exchange'] });
      await expect(signed.send()).rejects.toMatchObject({ name: 'ExecutorFault' });
      expect(await desk.perp.perp(master.address)).toBe('100.0');
      await desk.perp.faults({ withdrawal_seconds: 0, confirmations: 1 });
      expect(await signed.recover()).toMatchObject({ next_state: 'OBSERVING' });
      await expectOnce(signed, 2);
      expect(await ended(signed)).toMatchObject({ next_state: 'COMPLETED' });
    },
  );

  it('is completed by no row with another amount, which is shown', async () => {
    let paid = '9';
    const account = someone('is paid something else');
    await desk.perp.fund(low(account.address), { perp: '100' });
    const master = masterOf(desk, account, (client) => ({
      ...client,
      ledger: async (...parameters) =>
        (await client.ledger(...parameters)).map((row) => ({
          ...row,
          delta: row.delta.type === 'withdraw' ? { ...row.delta, usdc: paid } : row.delta,
        })),
    }));
    const signed = await signedWithdrawal(master);
    await signed.send();
    const mismatch = {
      next_state: 'OBSERVING',
      error_code: 'LEDGER_ROW_MISMATCH',
      error_message: expect.stringContaining('10 left the account'),
    };
    await eventually(async () => ((await signed.observe()).error_code === undefined ? null : true));
    expect([await signed.observe(), await signed.recover()]).toMatchObject([mismatch, mismatch]);
    await expectOnce(signed, 1);
    paid = '10.0';
    expect(await signed.observe()).toMatchObject({ next_state: 'COMPLETED' });
  });

  it('that the venue refuses at once is failed in its words', async () => {
    const master = await newMaster('is refused');
    const signed = await signedWithdrawal(master);
    await desk.perp.faults({ reject_next: { text: 'Insufficient balance for withdrawal' } });
    expect(await signed.send()).toMatchObject({
      next_state: 'FAILED',
      error_code: 'VENUE_REFUSED',
      error_message: 'Insufficient balance for withdrawal',
    });
    expect(await desk.perp.perp(master.address)).toBe('100.0');
  });

  it('is proven by no refusal that is not known', async () => {
    const master = await newMaster('is refused in strange words');
    const signed = await signedWithdrawal(master);
    await desk.perp.faults({ reject_next: { text: 'Balance is being checked. Try again later' } });
    await expect(signed.send()).rejects.toMatchObject({
      code: 'ACTION_UNPROVEN',
      message: expect.stringContaining('Balance is being checked'),
    });
    // Its nonce is used by an unknown action, so the ledger is searched.
    expect(await signed.recover()).toMatchObject({ next_state: 'OBSERVING' });
    await expectOnce(signed, 2);
  });

  test.each([
    'Must deposit before performing actions. User: 0x0000000000000000000000000000000000000001',
    'Too many cumulative requests sent (10001 > 10000) for cumulative volume traded $0.',
    'Unknown token USDC:0x1',
  ])('is failed by a first refusal that is known: %s', async (text) => {
    const master = await newMaster(`gets ${text}`);
    const signed = await signedWithdrawal(master);
    await desk.perp.faults({ reject_next: { text } });
    expect(await signed.send()).toMatchObject({
      next_state: 'FAILED',
      error_code: 'VENUE_REFUSED',
    });
  });

  it('is failed by a refusal that used up its nonce, whatever came before', async () => {
    const master = await newMaster('spends it elsewhere');
    const signed = await signedWithdrawal(master, '80');
    await desk.perp.faults({ rate_limited: true, calls: ['exchange'] });
    await expect(signed.send()).rejects.toMatchObject({ name: 'ExecutorFault' });
    await desk.perp.faults({});
    await desk.perp.as(master.account).usdSend({ destination: PAID, amount: '50' });
    expect(await signed.recover()).toMatchObject({
      next_state: 'FAILED',
      error_code: 'VENUE_REFUSED',
      error_message: expect.stringContaining('Insufficient'),
    });
    await desk.perp.fund(master.address, { perp: '50' });
    // Its bytes are dead: what looks like an answer now is about the refusal.
    await signed.recover();
    await expectOnce(signed, 3);
    expect(Number(await desk.perp.perp(master.address))).toBeGreaterThan(80);
  });

  it('that may not be sent now is not sent again, and still found', async () => {
    const master = await newMaster('is held');
    const why = 'its strategy is paused';
    const held = { ends: false, needs_retry: false, why };
    const stopped = { ...NO_JOURNAL, held: () => Promise.resolve(held) };
    const unknown = {
      ...NO_JOURNAL,
      held: () => Promise.resolve({ ...held, needs_retry: true }),
    };
    const context = contextOf(master, withdrawal(desk, '11', PAID));
    const signed = await signedBy(master, master.withdraw, context);
    await desk.perp.faults({ refuse_rate: 1, calls: ['exchange'] });
    await expect(signed.send()).rejects.toMatchObject({ name: 'ExecutorFault' });
    await desk.perp.faults({});
    await expect(signed.recover(0, stopped)).rejects.toMatchObject({
      kind: 'not_yet',
      code: 'ACTION_HELD',
      message: expect.stringContaining(why),
    });
    expect(await signed.recover(0, unknown)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'ACTION_HELD',
    });
    expect(await heard(signed)).toHaveLength(1);
    await signed.send();
    await desk.perp.faults({ withdrawal_seconds: 0, confirmations: 1 });
    expect(await ended(signed)).toMatchObject({ next_state: 'COMPLETED' });
  });

  it('is not sent again by a process that was suspended after it had read the stops', async () => {
    const master = await newMaster('sleeps');
    const signed = await signedWithdrawal(master);
    await desk.perp.faults({ refuse_rate: 1, calls: ['exchange'] });
    await expect(signed.send()).rejects.toMatchObject({ name: 'ExecutorFault' });
    await desk.perp.faults({});
    const held = async () => {
      const wall_ms = Date.now() + HOUR;
      jest.spyOn(Date, 'now').mockReturnValue(wall_ms);
      return null;
    };
    try {
      await expect(signed.recover(0, { ...NO_JOURNAL, held })).rejects.toMatchObject({
        kind: 'timeout',
        code: 'VENUE_UNREACHABLE',
      });
    } finally {
      jest.restoreAllMocks();
    }
    expect(await heard(signed)).toHaveLength(1);
    await desk.perp.faults({ withdrawal_seconds: 0, confirmations: 1 });
    expect(await signed.recover()).toMatchObject({ next_state: 'OBSERVING' });
    await expectOnce(signed, 2);
    expect(await ended(signed)).toMatchObject({ next_state: 'COMPLETED' });
  });

  it('is proven by no refusal that may have come before its nonce was looked at', async () => {
    const master = await newMaster('sends what is too old');
    const signed = await signedWithdrawal(master, '11', Date.now() - 72 * HOUR);
    expect(await signed.recover(HOUR)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'ACTION_UNPROVEN',
      error_message: expect.stringContaining('nonce too low'),
    });
  });

  it('that the venue took is not failed by absence, however long its row is away', async () => {
    const master = await newMaster('is refused behind a lost answer');
    const signed = await signedWithdrawal(master);
    // The refusal was lost, and its nonce is used: there will never be a row.
    await desk.perp.faults({
      lose_answer_rate: 1,
      calls: ['exchange'],
      reject_next: { text: 'Insufficient balance for withdrawal' },
    });
    await expect(signed.send()).rejects.toMatchObject({ name: 'ExecutorFault' });
    await desk.perp.faults({});
    expect(await signed.recover()).toMatchObject({ next_state: 'OBSERVING' });
    for (const later of [HOUR, 30 * HOUR, 49 * HOUR]) {
      expect(await signed.observe(later)).toMatchObject({ next_state: 'OBSERVING' });
      expect(await signed.recover(later)).toMatchObject({ next_state: 'OBSERVING' });
    }
    await expect(signed.observe(49 * HOUR + 1)).rejects.toMatchObject({
      code: 'LEDGER_ROW_MISSING',
    });
    expect(await signed.recover(100 * HOUR)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'LEDGER_ROW_MISSING',
    });
    await expectOnce(signed, 2);
  });

  it('that is not found is never failed: what was taken may be paid however late', async () => {
    const master = await newMaster('is not found');
    const signed = await signedWithdrawal(master);
    await desk.perp.faults({ rate_limited: true, calls: ['exchange'] });
    await expect(signed.send()).rejects.toMatchObject({ name: 'ExecutorFault' });
    await desk.perp.faults({});
    for (const later of [24 * HOUR, 48 * HOUR, 49 * HOUR, 500 * HOUR])
      expect(await signed.recover(later)).toMatchObject({
        next_state: 'UNKNOWN',
        error_code: 'ACTION_UNPROVEN',
      });
    // By the venue's clock, too.
    await desk.perp.faults({ clock_ahead_ms: 100 * HOUR });
    expect(await signed.recover(100 * HOUR)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'ACTION_UNPROVEN',
      error_message: expect.stringContaining('only once it is paid'),
    });
    // Nothing is sent once it is a day old.
    expect(await heard(signed)).toHaveLength(1);
    await desk.perp.faults({});
  });

  it('waits for a payment that is held and for a ledger that lags', async () => {
    const master = await newMaster('waits');
    const signed = await signedWithdrawal(master);
    await desk.perp.faults({ hold_withdrawals: true, confirmations: 1 });
    await signed.send();
    expect(await signed.observe()).toMatchObject({ next_state: 'OBSERVING' });
    await desk.perp.faults({ ...SOON, ledger_delay_ms: 600_000 });
    await eventually(async () => {
      const entry = await fetch(`${desk.url}/accounts`).then((answer) => answer.json());
      const { withdrawals } = entry as { withdrawals: { nonce: number; paid: boolean }[] };
      return withdrawals.some(({ nonce, paid }) => nonce === signed.nonce && paid) ? true : null;
    });
    expect(await signed.observe()).toMatchObject({ next_state: 'OBSERVING' });
    expect(await signed.recover()).toMatchObject({ next_state: 'OBSERVING' });
    await desk.perp.faults(SOON);
    expect(await ended(signed)).toMatchObject({ next_state: 'COMPLETED' });
    await expectOnce(signed, 1);
  });
  const SOON = { withdrawal_seconds: 0, confirmations: 1 };

  it('of which no signature is stored was not sent, but where that may be forgotten', async () => {
    const master = await newMaster('has signed nothing');
    const context = contextOf(master, withdrawal(desk, '11', PAID));
    expect(await master.withdraw.recover(context, call(), NO_JOURNAL)).toEqual({
      next_state: 'READY',
    });
    expect(await master.withdraw.recover(context, call(), RESTORED)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'ACTION_FORGOTTEN',
    });
  });

  it('is not sent again by a database that may have forgotten a later attempt', async () => {
    const master = await newMaster('was restored');
    const signed = await signedWithdrawal(master);
    for (const later of [HOUR, 30 * HOUR, 50 * HOUR])
      expect(await signed.recover(later, RESTORED)).toMatchObject({
        next_state: 'UNKNOWN',
        error_code: 'ACTION_FORGOTTEN',
      });
    expect(await heard(signed)).toEqual([]);
    await signed.send();
    await ended(signed);
    expect(await signed.recover(HOUR, RESTORED)).toMatchObject({ next_state: 'COMPLETED' });
  });

  it('is not sent with other bytes than were prepared', async () => {
    const master = await newMaster('has other bytes');
    const signed = await signedWithdrawal(master);
    const context = signed.context();
    const prepared = context.prior?.prepared_action ?? {};
    const action = { ...(prepared['action'] as object), amount: '12' };
    const changed = { ...prepared, action };
    const sign_result = { signature: `0x${'1'.repeat(130)}` };
    await expect(
      master.withdraw.submit(
        { context, prepared_action: changed, sign_result, journal: NO_JOURNAL },
        call(),
      ),
    ).rejects.toMatchObject({ code: 'SIGNED_BYTES_MISMATCH' });
    expect(await heard(signed)).toEqual([]);
  });

  it('is not sent by a call that has no last moment', async () => {
    const master = await newMaster('has no last moment');
    const signed = await signedWithdrawal(master);
    const context = signed.context();
    const prepared_action = context.prior?.prepared_action ?? {};
    const signature = context.perp?.action?.signature ?? '';
    const input = { context, prepared_action, sign_result: { signature }, journal: NO_JOURNAL };
    await expect(master.withdraw.submit(input, call())).rejects.toMatchObject({
      kind: 'protocol',
      code: 'SEND_UNLIMITED',
    });
    expect(await heard(signed)).toEqual([]);
  });
});

describe('nothing is withdrawn', () => {
  test.each([
    ['more than may leave', { amount: '100.000001' }, 'INSUFFICIENT_WITHDRAWABLE'],
    ['more decimals than the venue has', { amount: '5.0000001' }, 'AMOUNT_TOO_PRECISE'],
    ['nothing but the fee', { amount: '1' }, 'WITHDRAWAL_BELOW_FEE'],
    ['by another venue', { config: { venue: 'other' } }, 'CONFIG_INVALID'],
    ['on another chain', { config: { chain_id: 1 } }, 'CONFIG_INVALID'],
    ['to no address', { config: { destination_address: 'x' } }, 'CONFIG_INVALID'],
  ])('%s', async (name, change, code) => {
    const master = await newMaster(`withdraws nothing: ${name}`);
    const terms = withdrawal(desk, '11', PAID);
    const { amount = '11', config = {} } = change as { amount?: string; config?: object };
    const context = contextOf(master, {
      ...terms,
      amount,
      config: { ...terms.config, ...config },
    });
    expect(await codeOf(master, context)).toBe(code);
  });

  const codeOf = async (master: Master, context: ReturnType<typeof contextOf>) => {
    const [checked, prepared] = [
      await master.withdraw.preflight(context, call()),
      await master.withdraw.prepare(context, call()),
    ];
    expect(prepared.error_code).toBe(checked?.error_code);
    return checked?.error_code ?? null;
  };

  it('but what may leave, which is all of it', async () => {
    const master = await newMaster('withdraws everything');
    expect(await codeOf(master, contextOf(master, withdrawal(desk, '100', PAID)))).toBeNull();
  });

  it('by another signer than the master', async () => {
    const master = await newMaster('withdraws as another');
    const context = contextOf(master, withdrawal(desk, '11', PAID));
    const signer = { signer_key: 's', chain_family: 'evm', address: PAID };
    expect(await codeOf(master, { ...context, signer })).toBe('MASTER_SIGNER_MISMATCH');
    const perp = { ...context.perp!, master_address: PAID };
    expect(await codeOf(master, { ...context, perp })).toBe('MASTER_SIGNER_MISMATCH');
    const { perp: _none, ...without } = context;
    expect(await codeOf(master, without)).toBe('MASTER_ACCOUNT_MISSING');
  });

  it('by another rail, or out of an account of another mode', async () => {
    const master = await newMaster('withdraws by rail');
    const context = contextOf(master, withdrawal(desk, '11', PAID));
    await desk.perp.faults({ usdc_route: 'cctp' });
    expect(await codeOf(master, context)).toBe('VENUE_ROUTE_CLOSED');
    await desk.perp.faults({});
    expect(await codeOf(master, context)).toBeNull();
    const mismatch = (mode: string) =>
      masterOf(desk, master.account, (client) => ({
        ...client,
        mode: () => Promise.resolve(mode),
        rails: () => Promise.resolve(null),
      }));
    expect(await codeOf(mismatch('unifiedAccount'), context)).toBe('ACCOUNT_MODE_UNSUPPORTED');
    expect(await codeOf(mismatch('disabled'), context)).toBeNull();
  });

  it('while the venue does not answer', async () => {
    const master = await newMaster('withdraws in silence');
    const context = contextOf(master, withdrawal(desk, '11', PAID));
    await desk.perp.faults({ garbage_rate: 1, calls: ['info'] });
    await expect(master.withdraw.preflight(context, call())).rejects.toMatchObject({
      name: 'ExecutorFault',
      kind: 'protocol',
    });
  });
});

describe('a top-up', () => {
  async function bound(name: string) {
    const master = await newMaster(name);
    const sub = await desk.perp.sub(master.address, 'desk');
    const context = (amount = '20', more: object = {}, account: string = sub) =>
      contextOf(master, {
        action_type: 'agent_wallet_top_up',
        amount,
        config: { venue: 'perp', sub_account_address: account },
        perp: { sub_account_address: sub, ...more },
      });
    return { master, sub, context };
  }
  const codeOf = async (master: Master, context: ReturnType<typeof contextOf>) =>
    (await master.topUp.preflight(context, call()))?.error_code ?? null;

  it('is completed by the row of its nonce, sent once whatever is lost', async () => {
    const { master, sub, context } = await bound('tops up');
    const signed = await signedBy(master, master.topUp, context('20.5'));
    await desk.perp.faults({ lose_answer_rate: 1, calls: ['exchange'], ledger_delay_ms: 300 });
    await expect(signed.send()).rejects.toMatchObject({ name: 'ExecutorFault' });
    await desk.perp.faults({ ledger_delay_ms: 600_000 });
    expect(await signed.recover()).toMatchObject({ next_state: 'OBSERVING' });
    await desk.perp.faults({});
    expect(await signed.recover()).toMatchObject({
      next_state: 'COMPLETED',
      external_ref: `${master.address}:${String(signed.nonce)}`,
      output: { received_amount: '20.5', fee_amount: '0', sub_account_address: expect.anything() },
    });
    expect([await desk.perp.perp(master.address), await desk.perp.perp(sub)]).toEqual([
      '79.5',
      '20.5',
    ]);
    await expectOnce(signed, 2);
  });

  it('that is not found is not failed before its nonce is too old', async () => {
    const { master, context } = await bound('is not found');
    const signed = await signedBy(master, master.topUp, context('20'));
    await desk.perp.faults({ rate_limited: true, calls: ['exchange'] });
    await expect(signed.send()).rejects.toMatchObject({ name: 'ExecutorFault' });
    await desk.perp.faults({});
    for (const later of [24 * HOUR, 48 * HOUR, 49 * HOUR])
      expect(await signed.recover(later)).toMatchObject({
        next_state: 'UNKNOWN',
        error_code: 'ACTION_UNPROVEN',
      });
    // Nothing is sent once it is a day old, and a ledger that does not answer proves nothing.
    expect(await heard(signed)).toHaveLength(1);
    await desk.perp.faults({ rate_limited: true, calls: ['info'] });
    await expect(signed.recover(50 * HOUR)).rejects.toMatchObject({ name: 'ExecutorFault' });
    // Our clock alone proves nothing: by the venue's it could still be taken.
    await desk.perp.faults({ clock_ahead_ms: 48 * HOUR });
    expect(await signed.recover(50 * HOUR)).toMatchObject({
      next_state: 'UNKNOWN',
      error_code: 'ACTION_UNPROVEN',
      error_message: expect.stringContaining('clock'),
    });
    await desk.perp.faults({ clock_ahead_ms: 50 * HOUR });
    expect(await signed.recover(50 * HOUR)).toMatchObject({
      next_state: 'FAILED',
      error_code: 'SUBMIT_NOT_LANDED',
    });
    expect(await heard(signed)).toHaveLength(1);
  });

  it('that landed is found by clocks half a day apart, and never failed', async () => {
    const { master, sub, context } = await bound('is found by clocks apart');
    const nonce = nextNonce() + 12 * HOUR;
    const signed = await signedBy(master, master.topUp, context('20', { action: { nonce } }));
    await desk.perp.faults({ lose_answer_rate: 1, calls: ['exchange'] });
    await expect(signed.send()).rejects.toMatchObject({ name: 'ExecutorFault' });
    await desk.perp.faults({ clock_ahead_ms: 72 * HOUR });
    expect(await signed.recover(50 * HOUR)).toMatchObject({ next_state: 'COMPLETED' });
    await desk.perp.faults({});
    expect(await desk.perp.perp(sub)).toBe('20.0');
    await expectOnce(signed, 1);
  });

  it('pays no other account than the strategy’s own sub-account', async () => {
    const { master, context } = await bound('tops up others');
    expect(await codeOf(master, context('20', {}, PAID))).toBe('SUB_ACCOUNT_MISMATCH');
    expect(await codeOf(master, context('20', { sub_account_address: undefined }))).toBe(
      'SUB_ACCOUNT_MISMATCH',
    );
    const stranger = await newMaster('has a sub-account of its own');
    const foreign = await desk.perp.sub(stranger.address, 'desk');
    for (const account of [PAID, foreign])
      expect(await codeOf(master, context('20', { sub_account_address: account }, account))).toBe(
        'SUB_ACCOUNT_NOT_OWN',
      );
  });

  it('goes neither from nor to an account that keeps perps and spot together', async () => {
    const { master, sub, context } = await bound('tops up by mode');
    for (const together of [master.address, low(sub)]) {
      const changed = masterOf(desk, master.account, (client) => ({
        ...client,
        mode: (user, options) =>
          low(user) === together ? Promise.resolve('unifiedAccount') : client.mode(user, options),
      }));
      expect(await codeOf(changed, context())).toBe('ACCOUNT_MODE_UNSUPPORTED');
    }
    expect(await codeOf(master, context())).toBeNull();
  });

  it('is not more than there is, nor than the sub-account may hold', async () => {
    const { master, sub, context } = await bound('tops up too much');
    expect(await codeOf(master, context('100.1'))).toBe('INSUFFICIENT_WITHDRAWABLE');
    expect(await codeOf(master, context('1.0000001'))).toBe('AMOUNT_TOO_PRECISE');
    await desk.perp.fund(sub, { perp: '15' });
    expect(await codeOf(master, context('20', { max_agent_balance: '34.9' }))).toBe(
      'MAX_AGENT_BALANCE_EXCEEDED',
    );
    expect(await codeOf(master, context('20', { max_agent_balance: '35' }))).toBeNull();
  });
});
