/** Agents at the simulated perps venue, and its faults on demand. */
import { startPerpVenue } from '../../dev/simulators/perp/start.ts';
import { eventually } from './bridge-stack.ts';
import { callerOf, low, someone, startPerpChain, type PerpCaller } from './perp-stack.ts';
import { started } from '../support/started.ts';

let perp: PerpCaller;
const stack = started(() => startPerpChain());
const venue = started(() => startPerpVenue(stack.settings));
beforeAll(() => {
  perp = callerOf(venue.url);
});

beforeEach(() => fetch(`${venue.url}/faults`, { method: 'DELETE' }));

const OK = { status: 'ok', response: { type: 'default' } };
const DAY_MS = 86_400_000;
const ZERO_ADDRESS = `0x${'0'.repeat(40)}` as const;

async function master(name: string) {
  const account = someone(name);
  const address = low(account.address);
  await perp.fund(address, { perp: '100' });
  const client = perp.as(account);
  const approve = (agent: string, agentName: string | null) =>
    client.approveAgent({ agentAddress: low(someone(agent).address), agentName });
  const listed = () =>
    perp.info<{ name: string; address: string; validUntil: number }[]>({
      type: 'extraAgents',
      user: address,
    });
  return { account, address, client, approve, listed };
}

test('an agent signs for its master, and moves nothing out', async () => {
  const { address, approve, listed } = await master('has an agent');
  const sub = await perp.sub(address, 'desk');
  const agent = someone('signs for another');
  const transfer = { subAccountUser: sub, isDeposit: true, usd: 1_000_000 };
  const early = perp.as(agent).subAccountTransfer(transfer);
  await expect(early).rejects.toThrow(`User or API Wallet ${low(agent.address)} does not exist.`);
  await approve('signs for another', 'desk');
  expect(await perp.as(agent).subAccountTransfer(transfer)).toEqual(OK);
  expect(await perp.perp(sub)).toBe('1.0');
  const out = perp.as(agent).withdraw3({ destination: low(agent.address), amount: '5' });
  await expect(out).rejects.toThrow(
    `Must deposit before performing actions. User: ${low(agent.address)}`,
  );
  expect(await perp.info({ type: 'userRole', user: low(agent.address) })).toEqual({
    role: 'agent',
    data: { user: address },
  });
  const [agentRow] = await listed();
  expect(agentRow).toMatchObject({ name: 'desk', address: low(agent.address) });
  expect((agentRow?.validUntil ?? 0) / DAY_MS).toBeCloseTo(Date.now() / DAY_MS + 90, 1);
});

test('three have names, one has none; the same name replaces, and none comes again', async () => {
  const { approve, listed, address } = await master('has many agents');
  for (const name of ['one', 'two', 'three']) await approve(`many ${name}`, name);
  await approve('many unnamed', null);
  await expect(approve('many four', 'four')).rejects.toThrow('Current limit is 3');
  await approve('many two again', 'two');
  expect((await listed()).map(({ name }) => name).sort()).toEqual(['one', 'three', 'two']);
  await expect(perp.as(someone('many two')).noop()).rejects.toThrow('does not exist');
  await expect(approve('many two', 'two')).rejects.toThrow('Extra agent already used.');
  const other = await master('wants the agent of another');
  await expect(other.approve('many one', 'one')).rejects.toThrow('Extra agent already used.');
  await perp.sub(address, 'two more');
  await approve('many four', 'four');
  expect(await listed()).toHaveLength(4);
});

test('names say until when, within 180 days', async () => {
  const { approve, listed } = await master('has agents for a time');
  const until = (days: number) => Date.now() + days * DAY_MS;
  const late = 'Agent valid_until already expired.';
  const named = (days: number) => `desk valid_until ${String(until(days))}`;
  await expect(approve('too late', named(-1))).rejects.toThrow(late);
  await expect(approve('too long', named(180.1))).rejects.toThrow(late);
  await approve('for a time', named(179.9));
  expect((await listed()).map(({ name }) => name)).toEqual(['desk']);
  await approve('for a moment', `desk valid_until ${String(Date.now() + 3_000)}`);
  expect(await listed()).toHaveLength(1);
  await eventually(async () => ((await listed()).length === 0 ? true : null));
  await expect(perp.as(someone('for a moment')).noop()).rejects.toThrow('does not exist');
});

test('an agent is taken away, and may be hidden', async () => {
  const { client, approve, listed } = await master('takes agents away');
  await approve('goes', 'desk');
  await perp.faults({ agent_removal_ms: 60_000, list_agents: false });
  await client.approveAgent({ agentAddress: ZERO_ADDRESS, agentName: 'desk' });
  await expect(perp.as(someone('goes')).noop()).rejects.toThrow('does not exist');
  await expect(approve('comes', 'desk')).rejects.toThrow('User has pending agent removal');
  await perp.faults({ list_agents: false });
  await approve('comes', 'desk');
  expect(await perp.as(someone('comes')).noop()).toEqual(OK);
  expect(await listed()).toEqual([]);
  await perp.faults({});
  expect(await listed()).toHaveLength(1);
});

test('a lost answer is applied once', async () => {
  const { address, client } = await master('loses answers');
  const before = (await perp.heard()).length;
  await perp.faults({ lose_answer_rate: 1, calls: ['exchange'] });
  await expect(client.withdraw3({ destination: address, amount: '10' })).rejects.toThrow();
  const { body, answered, admitted, nonce } = await perp.last();
  expect([answered, admitted]).toEqual([false, true]);
  await perp.faults({});
  expect((await perp.exchange(body)).text).toContain(`duplicate nonce ${String(nonce)}`);
  expect(await perp.perp(address)).toBe('90.0');
  expect(await perp.heard()).toHaveLength(before + 2);
});

test('calls that are refused do nothing, garbage has done it', async () => {
  const { address, client } = await master('has bad luck');
  const withdraw = () => client.withdraw3({ destination: address, amount: '10' });
  await perp.faults({ refuse_rate: 1, calls: ['exchange'] });
  await expect(withdraw()).rejects.toThrow('500');
  expect(await perp.last()).toMatchObject({ admitted: false, status: 500 });
  await perp.faults({ rate_limited: true, calls: ['exchange'] });
  await expect(withdraw()).rejects.toThrow('429 Too Many Requests - null');
  expect(await perp.perp(address)).toBe('100.0');
  await perp.faults({ rate_limited: true, calls: ['info'] });
  await expect(perp.perp(address)).rejects.toThrow('429');
  await perp.faults({ garbage_rate: 1, calls: ['exchange'] });
  await expect(withdraw()).rejects.toThrow('maintenance');
  await perp.faults({ reject_next: { text: 'Error withdrawing from bridge' } });
  await expect(withdraw()).rejects.toThrow('Error withdrawing from bridge');
  const { body } = await perp.last();
  expect((await perp.exchange(body)).text).toContain('duplicate nonce');
  expect(await withdraw()).toEqual(OK);
  expect(await perp.perp(address)).toBe('80.0');
  const refused = await fetch(`${venue.url}/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ refuse_rate: 2 }),
  });
  expect(refused.status).toBe(400);
});

test('answers of /info may lag behind, and rows come late', async () => {
  const { address, client } = await master('waits for answers');
  await perp.faults({ stale_info_ms: 2_000 });
  await eventually(async () => ((await perp.perp(address)) === '100.0' ? true : null));
  await client.usdClassTransfer({ amount: '40', toPerp: false });
  expect(await perp.perp(address)).toBe('100.0');
  expect(await perp.rows(address)).toEqual([]);
  await eventually(async () => ((await perp.perp(address)) === '60.0' ? true : null));
  await perp.faults({ ledger_delay_ms: 60_000 });
  expect(await perp.rows(address)).toEqual([]);
  await perp.faults({});
  const [row] = await perp.rows(address);
  const at = row?.time ?? 0;
  const within = (startTime: number, endTime: number) =>
    perp.info<unknown[]>({
      type: 'userNonFundingLedgerUpdates',
      user: address,
      startTime,
      endTime,
    });
  expect(await within(at, at)).toHaveLength(1);
  expect(await within(at + 1, at + 9)).toEqual([]);
});
