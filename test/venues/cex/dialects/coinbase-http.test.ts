/** What is particular to Coinbase, over HTTP against the local exchange. */
import { generateKeyPairSync } from 'node:crypto';
import { createLocalRequestDesk } from '../../../../platform/request-desk.ts';
import { openConnection } from '../../../../venues/cex/client.ts';
import { coinbase as dialect } from '../../../../venues/cex/dialects/coinbase/dialect.ts';
import type { HttpRequest, SendHttp } from '../../../../venues/cex/http.ts';
import { checkWithdrawal } from '../../../../venues/cex/withdrawal-checks.ts';
import { createCexWithdrawalExecutor } from '../../../../venues/cex/withdrawal.ts';
import { started } from '../../../support/started.ts';
import type { Withdrawal } from '../support/books.ts';
import { call, configOf, freshBooks, observe, openDesk, withdrawal } from '../support/desk.ts';
import { coinbase } from '../support/formats/coinbase.ts';
import { recovered, runOnce } from '../support/run.ts';
import {
  ACCOUNTS,
  accounts,
  BALANCES,
  balances,
  faultOf,
  ORDER,
  scripted,
  WALLET,
} from './coinbase-script.ts';

const PERMISSIONS = 'v3PrivateGetBrokerageKeyPermissions';
const desk = started(() => openDesk(coinbase));

beforeEach(() => freshBooks(desk));

const books = () => desk.exchange.books;
const node = () => withdrawal(configOf(coinbase));
const only = () => books().withdrawals[0]!;

describe('a request', () => {
  /** The request as it would leave this machine. */
  async function requestOf(base_url?: string): Promise<HttpRequest> {
    const seen: HttpRequest[] = [];
    const http: SendHttp = async (request) => {
      seen.push(request);
      return { status: 200, headers: {}, text: '{"can_view":true}' };
    };
    const [venue] = desk.bindings({ base_url });
    const connection = await openConnection(venue!, dialect, createLocalRequestDesk(), http);
    await connection.ask(PERMISSIONS, {}, call());
    return seen[0]!;
  }

  test.each([
    [undefined, 'https://api.coinbase.com/api/v3/brokerage/key_permissions'],
    ['https://proxy.example', 'https://proxy.example/api/v3/brokerage/key_permissions'],
    ['https://proxy.example/cb/', 'https://proxy.example/cb/api/v3/brokerage/key_permissions'],
  ])('with the base_url %s goes to %s, signed for the host of Coinbase', async (base, url) => {
    const sent = await requestOf(base);
    expect(sent.url).toBe(url);
    const [, claims = ''] = (sent.headers['Authorization'] ?? '').split('.');
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'))).toMatchObject({
      uri: 'GET api.coinbase.com/api/v3/brokerage/key_permissions',
    });
    expect(sent.headers['CB-VERSION']).toMatch(/^\d{4}-\d\d-\d\d$/);
  });
});

test('a key with another secret is refused, so the signature is checked', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const secret = privateKey.export({ type: 'sec1', format: 'pem' }).toString();
  const key = { ...desk.exchange.key(null), secret };
  const credentials_file = await desk.keyFile('another.json', key);
  const connection = await desk.accounts({ credentials_file }).get('cex-main').own();
  const fault = await faultOf(connection.ask(PERMISSIONS, {}, call()));
  expect(fault).toMatchObject({ kind: 'rejected', code: 'EXCHANGE_KEY_REFUSED' });
  expect(fault.message).toContain('authentication_error');
});

test('a key of another form is not used, and nothing is sent', async () => {
  const key = { ...desk.exchange.key(null), secret: 'legacy' };
  const credentials_file = await desk.keyFile('legacy.json', key);
  const fault = await faultOf(desk.accounts({ credentials_file }).get('cex-main').own());
  expect(fault).toMatchObject({ kind: 'unreachable', code: 'CREDENTIALS_UNREADABLE' });
  expect(fault.message).toContain('secret must be an EC key');
  expect(desk.exchange.requests).toEqual([]);
});

test('the sandbox is refused when the service starts', () => {
  expect(() => desk.bindings({ sandbox: true })).toThrow('fixed answers');
});

describe('a withdrawal', () => {
  test('within Coinbase shows neither address, hash nor fee, and is completed', async () => {
    const executor = createCexWithdrawalExecutor(desk.accounts());
    const { context } = await runOnce(executor, node());
    Object.assign(only(), { within: true, tx: null, fee: '0' });
    const observed = await observe(executor, context);
    expect(observed).toMatchObject({
      next_state: 'COMPLETED',
      output: {
        ...{ requested_amount: '100.5', submitted_amount: '100.25', received_amount: '100.25' },
        ...{ fee_amount: '0', exchange_transaction: only().id },
      },
    });
    expect(observed.output).not.toHaveProperty('tx_hash');
  });

  test('leaves the wallet, though a vault of the asset is beside it', async () => {
    const [one] = (balances() as { accounts: readonly object[] }).accounts;
    const of = (uuid: string, amount: string): object => ({
      ...{ ...one, uuid, hold: { value: '0', currency: 'BTC' } },
      available_balance: { value: amount, currency: 'BTC' },
    });
    const vault = of('58542935-67b5-56e1-a3f9-42686e07fa40', '7');
    const preflight = (amount: string) => {
      const shown = { accounts: [vault, of(WALLET, '5')], has_next: false };
      const { connection } = scripted({ [ACCOUNTS]: accounts(), [BALANCES]: shown });
      const account = { ...desk.accounts().get('cex-main'), own: async () => connection };
      return checkWithdrawal(account, { order: { ...ORDER, amount }, context: node() }, call());
    };
    expect(await preflight('5')).toBeNull();
    expect(await faultOf(preflight('5.1'))).toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
  });

  const mismatch = { next_state: 'UNKNOWN', error_code: 'WITHDRAWAL_MISMATCH' };

  test.each(['100.2', '100.3'])(
    'of %s, which is not what was prepared, is left to a person',
    async (net_amount) => {
      const executor = createCexWithdrawalExecutor(desk.accounts());
      const { context } = await runOnce(executor, node());
      Object.assign(only(), { net_amount });
      expect(await recovered(executor, context)).toMatchObject(mismatch);
    },
  );

  test.each<[string, Partial<Withdrawal>]>([
    ['over another network', { network: coinbase.books.networks.suspended }],
    // Only the id that Coinbase returned shows that the record is of this send.
    ['under the id of another request', { client_id: null }],
  ])('that is recorded %s is left to a person', async (_, changes) => {
    const executor = createCexWithdrawalExecutor(desk.accounts());
    const { context } = await runOnce(executor, node());
    Object.assign(only(), changes);
    expect(await recovered(executor, context)).toMatchObject(mismatch);
  });

  test('whose fee was below the limit reports what left the account', async () => {
    const executor = createCexWithdrawalExecutor(desk.accounts());
    books().termsOf('USDC', coinbase.books.networks.open).fee = '0.1';
    const { context } = await runOnce(executor, node());
    expect(await observe(executor, context)).toMatchObject({
      output: { submitted_amount: '100.35', fee_amount: '0.1', received_amount: '100.25' },
    });
    expect(books().get(null, 'SPOT', 'USDC')).toBe('899.65');
  });
});
