/** The simulated perps venue: who signs, what is refused, and the faults on demand. */
import { startPerpVenue } from '../../dev/simulators/perp/start.ts';
import { USDC_TOKEN } from '../../dev/simulators/perp/transfers.ts';
import type { Hex } from './bridge-stack.ts';
import { callerOf, low, rowsOf, someone, startPerpChain, type PerpCaller } from './perp-stack.ts';
import { started } from '../support/started.ts';

let perp: PerpCaller;
const stack = started(() => startPerpChain());
const venue = started(() => startPerpVenue(stack.settings));
beforeAll(() => {
  perp = callerOf(venue.url);
});

beforeEach(() => fetch(`${venue.url}/faults`, { method: 'DELETE' }));

const OK = { status: 'ok', response: { type: 'default' } };
const refused = (response: string) => ({
  status: 200,
  text: JSON.stringify({ status: 'err', response }),
});
/** A master with a hundred on perp. */
async function master(name: string) {
  const account = someone(name);
  const address = low(account.address);
  await perp.fund(address, { perp: '100' });
  return { account, address, client: perp.as(account) };
}

test('the signer of each action of the client of others is recovered', async () => {
  const { address, client } = await master('signs');
  const sub = await perp.sub(address, 'desk-1');
  const agentAddress = low(someone('agent of signs').address);
  const signs = [
    () => client.withdraw3({ destination: sub, amount: '2.5' }),
    () => client.usdSend({ destination: sub, amount: '1' }),
    () => client.usdClassTransfer({ amount: '10', toPerp: false }),
    () =>
      client.sendAsset({
        destination: sub,
        sourceDex: '',
        destinationDex: 'spot',
        token: USDC_TOKEN.Testnet,
        amount: '3.000001',
      }),
    () => client.approveAgent({ agentAddress, agentName: 'desk' }),
    () => client.subAccountTransfer({ subAccountUser: sub, isDeposit: true, usd: 5_000_000 }),
    () => client.noop(),
  ];
  for (const sign of signs) {
    expect(await sign()).toEqual(OK);
    expect(await perp.last()).toMatchObject({ signer: address, admitted: true, status: 200 });
  }
  expect([await perp.perp(address), await perp.spot(address)]).toEqual(['78.499999', '10.0']);
  expect([await perp.perp(sub), await perp.spot(sub)]).toEqual(['6.0', '3.000001']);
  const own = { user: address, destination: sub };
  expect((await perp.rows(address)).map(({ delta }) => delta)).toMatchObject([
    { type: 'internalTransfer', usdc: '1.0', ...own, fee: '0.0' },
    { type: 'accountClassTransfer', usdc: '10.0', toPerp: false },
    { type: 'send', amount: '3.000001', ...own, fee: '0.0', nonce: expect.any(Number) },
    { type: 'subAccountTransfer', usdc: '5.0', ...own },
  ]);
  expect((await perp.rows(sub)).map(({ delta }) => delta['type'])).toEqual([
    'internalTransfer',
    'send',
    'subAccountTransfer',
  ]);
  const [listed] = await perp.info<{ name: string; subAccountUser: Hex }[]>({
    type: 'subAccounts',
    user: address,
  });
  expect(listed).toMatchObject({ name: 'desk-1', subAccountUser: sub, master: address });
  expect(await perp.info({ type: 'subAccounts', user: sub })).toBeNull();
});

test('the same bytes are admitted once, and another signer may use the nonce', async () => {
  const { address, client } = await master('repeats');
  const other = await master('repeats too');
  await client.withdraw3({ destination: address, amount: '10' });
  const { body, nonce } = await perp.last();
  const duplicate = refused(`Invalid nonce: duplicate nonce ${String(nonce)}`);
  expect(await perp.exchange(body)).toEqual(duplicate);
  expect(await perp.perp(address)).toBe('90.0');
  // L1 and user-signed actions of one signer share their nonces.
  await expect(perp.as(someone('repeats'), () => nonce ?? 0).noop()).rejects.toThrow('duplicate');
  expect(await perp.as(other.account, () => nonce ?? 0).noop()).toEqual(OK);
});

test('a refusal for want of money uses the nonce, an earlier one does not', async () => {
  const { address, client } = await master('refused');
  const early = someone('not there yet');
  const later = perp.as(early).withdraw3({ destination: address, amount: '2' });
  await expect(later).rejects.toThrow(
    `Must deposit before performing actions. User: ${low(early.address)}`,
  );
  const tooEarly = await perp.last();
  expect(tooEarly).toMatchObject({ admitted: false, signer: low(early.address) });
  await perp.fund(low(early.address), { perp: '2' });
  expect((await perp.exchange(tooEarly.body)).text).toBe(JSON.stringify(OK));

  const tooMuch = client.withdraw3({ destination: address, amount: '100.000001' });
  await expect(tooMuch).rejects.toThrow('Insufficient balance for withdrawal');
  const { body, nonce, admitted } = await perp.last();
  expect(admitted).toBe(true);
  await perp.fund(address, { perp: '1' });
  expect(await perp.exchange(body)).toEqual(
    refused(`Invalid nonce: duplicate nonce ${String(nonce)}`),
  );
  for (const [amount, text] of [
    ['0', 'Withdrawal amount cannot be zero'],
    ['1', 'Withdrawal amount must be above the fee'],
    ['2.0000001', 'Invalid number of decimals'],
  ] as const)
    await expect(client.withdraw3({ destination: address, amount })).rejects.toThrow(text);
  expect(await perp.perp(address)).toBe('101.0');
});

test('what is wrong with a call is said in the order of the venue', async () => {
  const { address, client } = await master('orders');
  await client.withdraw3({ destination: address, amount: '2' });
  const sent = JSON.parse((await perp.last()).body) as { action: object; nonce: number };
  const changed = { ...sent, action: { ...sent.action, amount: '3' } };
  const stranger = /Must deposit before performing actions. User: 0x[0-9a-f]{40}"/;
  expect((await perp.exchange(changed)).text).toMatch(stranger);
  const cases: [object, string][] = [
    [{ ...changed, nonce: sent.nonce + 1 }, 'Nonce mismatch.'],
    [{ ...sent, expiresAfter: Date.now() }, 'Action does not support expires_after'],
    [{ ...sent, vaultAddress: address }, 'Vault may not perform this action.'],
    [sent, `Invalid nonce: duplicate nonce ${String(sent.nonce)}`],
  ];
  for (const [body, text] of cases) expect(await perp.exchange(body)).toEqual(refused(text));
  const mainnet = { ...sent.action, hyperliquidChain: 'Mainnet' };
  expect((await perp.exchange({ ...sent, action: mainnet })).text).toContain('"err"');

  const unread = { status: 422, text: 'Failed to deserialize the JSON body into the target type' };
  expect(await perp.exchange({ ...sent, action: { type: 'order' } })).toEqual(unread);
  expect(await perp.exchange('{}')).toEqual(unread);
  expect((await perp.exchange('{')).status).toBe(400);
  const untyped = await fetch(`${venue.url}/exchange`, { method: 'POST', body: '{}' });
  expect(untyped.status).toBe(415);
  const info = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const details = JSON.stringify({ type: 'userDetails', user: address });
  expect((await fetch(`${venue.url}/info`, { ...info, body: details })).status).toBe(422);
  expect(await perp.perp(address)).toBe('98.0');
});

test('sends are refused in the words that were captured', async () => {
  const { address, client } = await master('sends');
  const stranger = low(someone('gets a first send').address);
  const usual = {
    destination: stranger,
    sourceDex: '',
    destinationDex: 'spot',
    token: USDC_TOKEN.Testnet,
    amount: '100',
  };
  for (const [wish, text] of [
    [{ token: USDC_TOKEN.Mainnet }, 'Unknown token USDC:0x6d1e'],
    [{ destinationDex: 'xyz' }, 'Invalid perp DEX'],
    [{ amount: '0' }, 'Send amount cannot be zero'],
    [{ amount: '0.0000001' }, 'Invalid send'],
    [{ destination: address, destinationDex: '' }, 'Invalid send'],
    [{ amount: '100.1' }, 'Insufficient balance for token transfer'],
    [{}, 'Insufficient quote token (e.g., 1 USDC or USDT) balance'],
    [{ fromSubAccount: stranger }, 'Invalid sub-account transfer from'],
  ] as const)
    await expect(client.sendAsset({ ...usual, ...wish })).rejects.toThrow(text);
  const foreign = { subAccountUser: stranger, isDeposit: true, usd: 1 };
  await expect(client.subAccountTransfer(foreign)).rejects.toThrow('Invalid sub-account transfer');
  expect(await client.sendAsset({ ...usual, amount: '99' })).toEqual(OK);
  expect([await perp.perp(address), await perp.spot(stranger)]).toEqual(['0.0', '99.0']);
  const [row] = await rowsOf(perp, stranger, 'send');
  expect(row?.delta).toMatchObject({ fee: '1.0', feeToken: 'USDC', user: address });
});

test('sub-accounts want a volume, and are ten at most', async () => {
  const { address, client } = await master('trades');
  const early = client.createSubAccount({ name: 'one' });
  await expect(early).rejects.toThrow('Required: $100000. Traded: $0.');
  await perp.fund(address, { volume: '100000' });
  const { response } = await client.createSubAccount({ name: 'one' });
  expect(response).toMatchObject({ type: 'createSubAccount', data: expect.any(String) });
  expect(await perp.info({ type: 'userRole', user: response.data })).toEqual({
    role: 'subAccount',
    data: { master: address },
  });
  for (let count = 1; count < 10; count += 1) await perp.sub(address, `sub-${String(count)}`);
  await expect(client.createSubAccount({ name: 'more' })).rejects.toThrow('Too many sub-accounts.');
});
