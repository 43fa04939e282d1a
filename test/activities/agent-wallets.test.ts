/** How agents of the perps venue are approved, whatever the venue, the signer and workers do. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExecutorFault } from '../../domain/executor.ts';
import { SignerFault } from '../../domain/signer.ts';
import type { PerpAccess } from '../../venues/perp/access.ts';
import type { PerpClient } from '../../venues/perp/client.ts';
import { low, someone } from '../dev/perp-stack.ts';
import { eventually } from '../support/eventually.ts';
import { failuresOf } from '../support/loop-figures.ts';
import { at, startPerpDesk } from '../support/perp-desk.ts';
import { started } from '../support/started.ts';

let nth = 0;
const desk = started(() => startPerpDesk('perp-approver'));
afterEach(() => desk.clear());

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Wallet {
  readonly wallet_id: string;
  readonly agent_name: string;
  readonly address: string;
  readonly state: string;
  readonly valid_until: string;
  readonly last_error: string | null;
  readonly approved_at: string | null;
}

beforeEach(async () => {
  const { address } = desk.master.account;
  const master = { master_address: address, signer_key: 'perp-approver', network: 'testnet' };
  await must(200, 'POST', '/perp-venue/master-account', master);
  await must(200, 'POST', '/perp-venue/strategy-bindings', { strategy_id: 'basis' });
  // Two more names for each: the venue never forgets one.
  for (let each = 0; each < 3; each += 1) {
    nth += 1;
    await desk.perp.sub(low(address), `sub ${String(nth)}`).catch(() => undefined);
  }
});

async function must<T>(status: number, method: string, path: string, body?: object): Promise<T> {
  const answer = await desk.call(method, path, body);
  if (answer.status !== status)
    throw new Error(`answered ${String(answer.status)}: ${JSON.stringify(answer.body)}`);
  return answer.body as unknown as T;
}

const name = (): string => `n${randomUUID().slice(0, 8)}`;
function ask(agent_name: string, more: object = {}, strategy = 'basis'): Promise<Wallet> {
  const signer_key = `agent-${randomUUID()}`;
  desk.signer(signer_key);
  const body = { agent_name, signer_key, ...more };
  return must(200, 'POST', at(strategy, '/agent-wallets'), body);
}
/** As the database has it, whatever the time is. */
async function stored({ wallet_id }: Wallet): Promise<Wallet> {
  const [row] = await desk.bench.sql<Wallet>(
    'SELECT * FROM perp_agent_wallets WHERE wallet_id = $1::uuid',
    wallet_id,
  );
  if (row === undefined) throw new Error('there is no such wallet');
  return row;
}
function becomes(wallet: Wallet, wanted: Partial<Wallet>): Promise<Wallet> {
  let last: Wallet | undefined;
  return eventually(
    async () => {
      last = await stored(wallet);
      const found = last;
      return Object.entries(wanted).every(([key, value]) => Reflect.get(found, key) === value)
        ? found
        : null;
    },
    { timeoutMs: 15_000, what: () => `${JSON.stringify(wanted)}; it is ${JSON.stringify(last)}` },
  );
}
function saysError(wallet: Wallet, error: RegExp): Promise<Wallet> {
  return eventually(async () => {
    const found = await stored(wallet);
    return error.test(found.last_error ?? '') ? found : null;
  });
}
const listed = () =>
  desk.perp.info<{ name: string; address: string; validUntil: number }[]>({
    type: 'extraAgents',
    user: low(desk.master.account.address),
  });
async function approvalsOf({ agent_name }: Wallet) {
  return (await desk.approvals()).filter((each) => each.agentName.startsWith(`${agent_name} `));
}
/** The same venue, some of whose calls are another's. */
const through = (calls: Partial<PerpClient>): PerpAccess => ({
  venue: desk.access.venue,
  client: { ...desk.access.client, ...calls },
});
const dueNow = () =>
  desk.bench.sql('UPDATE perp_agent_wallets SET next_look_at = now() WHERE next_look_at > now()');

test('an agent is approved by the master, and active once the venue lists it', async () => {
  desk.work();
  const wallet = await ask(name());
  const active = await becomes(wallet, { state: 'active', last_error: null });
  expect(active.approved_at).not.toBeNull();
  const found = (await listed()).find((each) => each.name === wallet.agent_name);
  expect(found).toEqual({
    name: wallet.agent_name,
    address: low(wallet.address),
    validUntil: Date.parse(wallet.valid_until),
  });
  expect(await approvalsOf(wallet)).toMatchObject([{ admitted: true }]);
  const [audit] = await desk.bench.sql(
    "SELECT * FROM audit_events WHERE action = 'perp_agent_wallet.activate' ORDER BY event_id DESC LIMIT 1",
  );
  expect(audit).toMatchObject({
    entity_key: `basis/${wallet.agent_name}`,
    outcome: 'success',
    actor_role: 'system',
    details: { wallet_id: wallet.wallet_id },
  });
});

test('three workers approve each agent once', async () => {
  const wallets = await Promise.all([ask(name()), ask(name()), ask(name())]);
  for (const _ of [1, 2, 3]) desk.work();
  for (const wallet of wallets) await becomes(wallet, { state: 'active' });
  for (const wallet of wallets) expect(await approvalsOf(wallet)).toHaveLength(1);
});

test('workers whose leases ran out send the same bytes, of which one is admitted', async () => {
  const wallet = await ask(name());
  let waiting = 0;
  const go = new AbortController();
  const slow = through({
    send: async (body, call) => {
      waiting += 1;
      while (!go.signal.aborted) await sleep(5);
      return desk.access.client.send(body, call);
    },
  });
  for (const worker of [1, 2]) {
    desk.work({ perp: slow });
    await eventually(() => Promise.resolve(waiting === worker ? true : null));
    await dueNow();
  }
  go.abort();
  await becomes(wallet, { state: 'active' });
  const sent = await eventually(async () => {
    const all = await approvalsOf(wallet);
    return all.length === 2 ? all : null;
  });
  expect(sent.map(({ admitted }) => admitted).sort()).toEqual([false, true]);
  expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
  // The second had found the first one's signature.
  expect(desk.master.signed).toBe(1);
});

test.each([
  ['the answer is lost', { lose_answer_rate: 1, calls: ['exchange'] }],
  ['the answer is no JSON', { garbage_rate: 1, calls: ['exchange'] }],
])('an approval is admitted once when %s', async (_what, faults) => {
  await desk.perp.faults(faults);
  const wallet = await ask(name());
  desk.work();
  const active = await becomes(wallet, { state: 'active' });
  expect(active.last_error).toBeNull();
  const sent = await approvalsOf(wallet);
  expect(sent.filter(({ admitted }) => admitted)).toHaveLength(1);
  expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
});

test('an approval without an answer is sent again, and its error shown', async () => {
  await desk.perp.faults({ refuse_rate: 1 });
  const wallet = await ask(name());
  desk.work();
  await saysError(wallet, /answered 500/);
  expect(await stored(wallet)).toMatchObject({ state: 'pending' });
  await fetch(`${desk.access.venue.url}/faults`, { method: 'DELETE' });
  await becomes(wallet, { state: 'active', last_error: null });
});

test('a check that cannot be stored fails the turn, and one that the venue did not answer does not', async () => {
  const failures = async (): Promise<number> => (await failuresOf('agent wallet tender')) ?? 0;
  const before = await failures();
  await desk.perp.faults({ refuse_rate: 1 });
  const [refused, other] = [await ask(name()), await ask(name())];
  const worker = desk.work();
  await saysError(refused, /answered 500/);
  await saysError(other, /answered 500/);
  await worker.stop();
  expect(await failures()).toBe(before);
  await fetch(`${desk.access.venue.url}/faults`, { method: 'DELETE' });
  await desk.bench.sql(`CREATE FUNCTION refuse_wallet() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN RAISE EXCEPTION ''this wallet stays as it is''; END'`);
  try {
    await desk.bench.sql(`CREATE TRIGGER refuse_wallet BEFORE UPDATE ON perp_agent_wallets
      FOR EACH ROW WHEN (NEW.state <> OLD.state AND NEW.agent_name = '${refused.agent_name}')
      EXECUTE FUNCTION refuse_wallet()`);
    await dueNow();
    desk.work();
    // The other one goes on.
    await becomes(other, { state: 'active' });
    await eventually(async () => ((await failures()) > before ? true : null));
    expect(await stored(refused)).toMatchObject({ state: 'pending' });
  } finally {
    await desk.bench.sql('DROP TRIGGER IF EXISTS refuse_wallet ON perp_agent_wallets');
    await desk.bench.sql('DROP FUNCTION refuse_wallet()');
  }
});

test('that it was taken is no proof: what is not listed stays pending', async () => {
  await desk.perp.faults({ list_agents: false });
  const wallet = await ask(name());
  desk.work();
  await saysError(wallet, /not listed by the venue yet, though it accepted the approval/);
  await dueNow();
  await eventually(async () => ((await approvalsOf(wallet)).length > 1 ? true : null));
  // Not even that the nonce was used.
  expect(await stored(wallet)).toMatchObject({ state: 'pending' });
  await desk.perp.faults({ list_agents: true });
  await becomes(wallet, { state: 'active', last_error: null });
  const sent = await approvalsOf(wallet);
  expect(sent.filter(({ admitted }) => admitted)).toHaveLength(1);
});

test('a refusal whose answer was lost frees the name half an hour after its nonce was used', async () => {
  await desk.perp.faults({
    lose_answer_rate: 1,
    calls: ['exchange'],
    reject_next: { text: 'Extra agent already used.' },
  });
  const wallet = await ask(name());
  const worker = desk.work();
  await eventually(async () => ((await approvalsOf(wallet)).length > 0 ? true : null));
  await fetch(`${desk.access.venue.url}/faults`, { method: 'DELETE' });
  await dueNow();
  await saysError(wallet, /its nonce is used, so the venue carried it out or refused it/);
  const sent = (await approvalsOf(wallet)).length;
  await desk.bench.sql(
    "UPDATE perp_agent_wallets SET nonce_used_at = now() - interval '29 minutes'",
  );
  await dueNow();
  await sleep(300);
  expect(await stored(wallet)).toMatchObject({ state: 'pending' });
  // Not sent again, and what cannot be read proves nothing.
  expect(await approvalsOf(wallet)).toHaveLength(sent);
  await desk.bench.sql(
    "UPDATE perp_agent_wallets SET nonce_used_at = now() - interval '31 minutes'",
  );
  await worker.stop();
  await desk.perp.faults({ refuse_rate: 1, calls: ['info'] });
  desk.work();
  await dueNow();
  await saysError(wallet, /answered 500/);
  expect(await stored(wallet)).toMatchObject({ state: 'pending' });
  await fetch(`${desk.access.venue.url}/faults`, { method: 'DELETE' });
  await dueNow();
  await becomes(wallet, {
    state: 'refused',
    last_error: 'not listed by the venue half an hour after its nonce was used',
  });
  await becomes(await ask(wallet.agent_name), { state: 'active' });
});

test('one that is listed with another end than was signed is not active', async () => {
  const wallet = await ask(name());
  const odd = { name: wallet.agent_name, address: low(wallet.address), valid_until: 1 };
  desk.work({ perp: through({ agents: () => Promise.resolve([odd]) }) });
  await saysError(wallet, /listed until 1970-01-01T00:00:00.001Z, which is not what was signed/);
  expect(await stored(wallet)).toMatchObject({ state: 'pending' });
});

test('a worker that ends between storing and sending leaves the bytes that are sent', async () => {
  const wallet = await ask(name());
  let ended = false;
  desk.work({
    perp: through({
      send: () => {
        ended = true;
        return Promise.reject(new ExecutorFault('timeout', 'VENUE_UNREACHABLE', 'it went away'));
      },
    }),
  });
  await eventually(() => Promise.resolve(ended ? true : null));
  const [before] = await desk.bench.sql<{ signature: string }>('SELECT * FROM perp_actions');
  expect(await approvalsOf(wallet)).toEqual([]);
  await eventually(async () => ((await stored(wallet)).last_error === null ? null : true));
  desk.work();
  await dueNow();
  await becomes(wallet, { state: 'active' });
  expect(desk.master.signed).toBe(1);
  const [sent] = await approvalsOf(wallet);
  const { signature } = JSON.parse(sent?.body ?? '{}') as { signature: { r: string } };
  expect(before?.signature.startsWith(signature.r)).toBe(true);
});

test('a worker that is stopped in the middle leaves a wallet to the next at once', async () => {
  const wallet = await ask(name());
  let sending = false;
  const hanging = through({
    send: (_body, { signal }) =>
      new Promise((_resolve, reject) => {
        sending = true;
        signal.addEventListener('abort', () =>
          reject(new ExecutorFault('timeout', 'VENUE_UNREACHABLE', 'cut off')),
        );
      }),
  });
  const worker = desk.work({ perp: hanging });
  await eventually(() => Promise.resolve(sending ? true : null));
  await worker.stop();
  expect(await stored(wallet)).toMatchObject({ state: 'pending', last_error: null });
  desk.work();
  await becomes(wallet, { state: 'active' });
  expect(desk.master.signed).toBe(1);
});

test('what the venue refuses for good is refused, in its words', async () => {
  await desk.perp.faults({
    reject_next: { text: 'Too many extra agents for cumulative volume traded. Current limit is 3' },
  });
  const wallet = await ask(name());
  desk.work();
  const refused = await becomes(wallet, { state: 'refused' });
  expect(refused.last_error).toMatch(/^Too many extra agents/);
  await sleep(200);
  expect(await approvalsOf(wallet)).toHaveLength(1);
  // Its name is free, and its address is not.
  await becomes(await ask(wallet.agent_name), { state: 'active' });
});

test('a refusal that may have come before the nonce is no end', async () => {
  const stranger = someone('has no account');
  const wallet = await ask(name());
  let sends = 0;
  desk.work({
    perp: through({
      send: (body, call) => {
        sends += 1;
        return sends === 1
          ? Promise.resolve({
              kind: 'refused',
              proves: true,
              consumed: false,
              message: `Must deposit before performing actions. User: ${stranger.address}`,
            })
          : desk.access.client.send(body, call);
      },
    }),
  });
  await saysError(wallet, /the venue refused the approval: Must deposit/);
  await becomes(wallet, { state: 'active' });
  expect(desk.master.signed).toBe(1);
});

describe('the master’s signer', () => {
  test.each([
    ['is away', new SignerFault('SIGNER_UNREACHABLE', 'the signer did not answer')],
    ['refuses', new SignerFault('SIGNER_REFUSED', 'the signer will not')],
  ])('that %s is called again', async (_what, fault) => {
    const wallet = await ask(name());
    desk.master.broken = fault;
    desk.work();
    await becomes(wallet, { state: 'pending', last_error: fault.message });
    desk.master.broken = null;
    await becomes(wallet, { state: 'active', last_error: null });
  });

  test('whose signature is not the master’s has nothing sent', async () => {
    const wallet = await ask(name());
    const { signer } = desk.master;
    const sign = signer.signEvmTypedData.bind(signer);
    Object.assign(signer, {
      signEvmTypedData: async (payload: object) => ({
        signature: await someone('signs for others').signTypedData(payload as never),
      }),
    });
    desk.work();
    await saysError(wallet, /not by the address that was to sign/);
    const [action] = await desk.bench.sql('SELECT signature FROM perp_actions');
    expect(action).toEqual({ signature: null });
    expect(await approvalsOf(wallet)).toEqual([]);
    Object.assign(signer, { signEvmTypedData: sign });
    await becomes(wallet, { state: 'active' });
  });

  test('that is switched off signs nothing, and nothing is sent for it', async () => {
    await desk.bench.sql(`INSERT INTO signers (signer_key, backend, chain_family, status,
      created_at, updated_at) VALUES ('perp-approver', 'local', 'evm', 'disabled', now(), now())`);
    const wallet = await ask(name());
    desk.work();
    await saysError(wallet, /signer perp-approver is disabled/);
    expect([desk.master.signed, await approvalsOf(wallet)]).toEqual([0, []]);
    await desk.bench.sql("UPDATE signers SET status = 'active'");
    await becomes(wallet, { state: 'active' });
  });

  test('signs nothing while the cutover mode is frozen', async () => {
    await desk.bench.sql("UPDATE cutover SET mode = 'frozen'");
    try {
      const wallet = await ask(name());
      desk.work();
      await saysError(wallet, /while the cutover mode is frozen/);
      expect([desk.master.signed, await approvalsOf(wallet)]).toEqual([0, []]);
      await desk.bench.sql("UPDATE cutover SET mode = 'normal'");
      await becomes(wallet, { state: 'active' });
    } finally {
      await desk.bench.sql("UPDATE cutover SET mode = 'normal'");
    }
  });
});

describe('a stop that comes while an approval is made', () => {
  const DISABLED = `INSERT INTO signers (signer_key, backend, chain_family, status, created_at,
    updated_at) VALUES ('perp-approver', 'local', 'evm', 'disabled', now(), now())`;
  const signatures = () => desk.bench.sql('SELECT signature FROM perp_actions');
  // A later turn finds the stop before anything is signed.
  const STOPPED = /the approval was not sent: meanwhile|mode is frozen|perp-approver is disabled/;

  test.each([
    ['the mode becomes frozen', "UPDATE cutover SET mode = 'frozen'"],
    ['the signer is disabled', DISABLED],
  ])('stores and sends nothing: %s while the signer signs', async (_what, stop) => {
    const { account, signer } = desk.master;
    const sign = signer.signEvmTypedData.bind(signer);
    let signed = 0;
    Object.assign(signer, {
      signEvmTypedData: async (payload: object) => {
        signed += 1;
        await desk.bench.sql(stop);
        return { signature: await account.signTypedData(payload as never) };
      },
    });
    try {
      const wallet = await ask(name());
      const worker = desk.work();
      await saysError(wallet, STOPPED);
      await worker.stop();
      expect([signed, await approvalsOf(wallet)]).toEqual([1, []]);
      expect(await signatures()).toEqual([{ signature: null }]);
      await desk.bench.sql("UPDATE cutover SET mode = 'normal'");
      await desk.bench.sql("UPDATE signers SET status = 'active'");
      Object.assign(signer, { signEvmTypedData: sign });
      desk.work();
      await dueNow();
      await becomes(wallet, { state: 'active', last_error: null });
    } finally {
      Object.assign(signer, { signEvmTypedData: sign });
      await desk.bench.sql("UPDATE cutover SET mode = 'normal'");
    }
  });

  test('has half a minute at most, however long the worker is suspended before it sends', async () => {
    const wallet = await ask(name());
    const left: number[] = [];
    const perp = through({
      send: (body, call) => {
        left.push(call.notAfter - Date.now());
        return desk.access.client.send(body, call);
      },
    });
    desk.work({ perp });
    await becomes(wallet, { state: 'active' });
    expect(Math.max(...left)).toBeLessThanOrEqual(30_000);
  });

  test('sends nothing that was signed earlier, either', async () => {
    const wallet = await ask(name());
    const away = new ExecutorFault('timeout', 'VENUE_UNREACHABLE', 'it went away');
    const first = desk.work({ perp: through({ send: () => Promise.reject(away) }) });
    await saysError(wallet, /it went away/);
    await first.stop();
    expect(await signatures()).not.toEqual([{ signature: null }]);
    let reads = 0;
    const second = desk.work({
      perp: through({
        agents: async (master, call) => {
          reads += 1;
          // The wallet was taken while its signer was active.
          if (reads === 1) await desk.bench.sql(DISABLED);
          return desk.access.client.agents(master, call);
        },
      }),
    });
    await dueNow();
    await saysError(wallet, STOPPED);
    await second.stop();
    expect(await approvalsOf(wallet)).toEqual([]);
    await desk.bench.sql("UPDATE signers SET status = 'active'");
    desk.work();
    await dueNow();
    await becomes(wallet, { state: 'active' });
    expect(desk.master.signed).toBe(1);
  });
});

test('nothing is signed for another master than the bound one', async () => {
  const wallet = await ask(name());
  const { client, venue } = desk.access;
  desk.work({ perp: { client, venue: { ...venue, network: 'Mainnet' } } });
  await saysError(wallet, /the perp entry of the venues file is not that of the master account/);
  expect([desk.master.signed, await approvalsOf(wallet)]).toEqual([0, []]);
});

describe('the same name', () => {
  test('replaces: the former stays active until the venue lists the next', async () => {
    desk.work();
    const first = await ask(name());
    await becomes(first, { state: 'active' });
    await desk.perp.faults({ refuse_rate: 1 });
    const second = await ask(first.agent_name);
    const both = await must<Wallet[]>(200, 'GET', at('basis', '/agent-wallets'));
    expect(both.map(({ state }) => state)).toEqual(['pending', 'active']);
    await fetch(`${desk.access.venue.url}/faults`, { method: 'DELETE' });
    await becomes(second, { state: 'active' });
    expect(await stored(first)).toMatchObject({ state: 'replaced' });
    const [found] = (await listed()).filter((each) => each.name === first.agent_name);
    expect(found?.address).toBe(low(second.address));
  });

  test('is free again once the one that had it is refused', async () => {
    desk.work();
    const first = await ask(name());
    await becomes(first, { state: 'active' });
    await desk.perp.faults({ reject_next: { text: 'Extra agent already used.' } });
    const second = await ask(first.agent_name);
    await becomes(second, { state: 'refused', last_error: 'Extra agent already used.' });
    expect(await stored(first)).toMatchObject({ state: 'active' });
  });
});

describe('time', () => {
  test('ends an agent', async () => {
    const soon = new Date(Date.now() + 4_000).toISOString();
    const wallet = await ask(name(), { valid_until: soon });
    desk.work();
    await becomes(wallet, { state: 'active' });
    await becomes(wallet, { state: 'expired' });
  });

  test('ends one that was never approved, and nothing is sent for it', async () => {
    const wallet = await ask(name());
    desk.work({ laterMs: 91 * DAY_MS });
    await becomes(wallet, { state: 'expired' });
    expect([desk.master.signed, await approvalsOf(wallet)]).toEqual([0, []]);
  });

  test('after a day it is looked for and no longer sent', async () => {
    const wallet = await ask(name());
    desk.work({ laterMs: 25 * HOUR_MS });
    await saysError(wallet, /the approval is no longer sent/);
    expect([desk.master.signed, await approvalsOf(wallet)]).toEqual([0, []]);
    expect(await stored(wallet)).toMatchObject({ state: 'pending' });
  });

  test('when its nonce can come no more it is refused, unless it is listed', async () => {
    const wallets = [await ask(name()), await ask(name())];
    const [lost, late] = wallets as [Wallet, Wallet];
    const agents = await listed();
    const others = agents.map(({ validUntil, ...rest }) => ({ ...rest, valid_until: validUntil }));
    const valid_until = Date.parse(late.valid_until);
    const found = { name: late.agent_name, address: low(late.address), valid_until };
    const perp = through({ agents: () => Promise.resolve([...others, found]) });
    desk.work({ laterMs: 49 * HOUR_MS + 60_000, perp });
    await becomes(late, { state: 'active' });
    await becomes(lost, {
      state: 'refused',
      last_error: "not listed by the venue when its nonce's window was over",
    });
    expect(desk.master.signed).toBe(0);
  });

  test('and while the list cannot be read nothing is refused for it', async () => {
    const wallet = await ask(name());
    await desk.perp.faults({ refuse_rate: 1, calls: ['info'] });
    desk.work({ laterMs: 49 * HOUR_MS + 60_000 });
    await saysError(wallet, /answered 500/);
    expect(await stored(wallet)).toMatchObject({ state: 'pending' });
  });
});

test('one that the venue lists no more says so, and stays what it is', async () => {
  const wallet = await ask(name());
  let isListed = true;
  const perp = through({
    agents: async (master, call) => (isListed ? desk.access.client.agents(master, call) : []),
  });
  desk.work({ perp });
  await becomes(wallet, { state: 'active' });
  isListed = false;
  await dueNow();
  await becomes(wallet, {
    state: 'active',
    last_error: 'not listed by the venue; the agent cannot be relied on',
  });
  isListed = true;
  await dueNow();
  await becomes(wallet, { state: 'active', last_error: null });
});
