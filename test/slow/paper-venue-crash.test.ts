import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startVenue } from '../../dev/simulators/paper-venue/start.ts';
import {
  call,
  eventually,
  journal,
  settled,
  startChain,
  startVenueHere,
  startVenueProcess,
  submit,
  tempFolder,
  withdrawal,
} from '../dev/paper-venue-stack.ts';
import { started } from '../support/started.ts';

const folders: ReturnType<typeof tempFolder>[] = [];
const folder = (): string => {
  const made = tempFolder();
  folders.push(made);
  return made.path;
};

const chain = started(() => startChain());
afterAll(async () => {
  for (const made of folders) made.remove();
});

test('an order that was accepted but not signed is sent once by the next process', async () => {
  const data = folder();
  const before = await chain.received();
  const first = await startVenueProcess(data, chain.settings);
  await first.faults({ processing_ms: 200, phases: ['submit'], remaining: 1 });
  const context = withdrawal('crash:accepted', { amount: '3' });
  const accepted = await submit(first, context);
  await first.end('SIGKILL');
  const second = await startVenueProcess(data, chain.settings);
  expect(await submit(second, context)).toEqual(accepted);
  await settled(second, context);
  await second.end('SIGKILL');
  expect((await chain.received()) - before).toBe(3_000_000n);
});

test('an order that was signed but has not reached the chain is sent with the same bytes', async () => {
  const data = folder();
  const before = await chain.received();
  await chain.client.setAutomine(false);
  const first = await startVenueProcess(data, chain.settings);
  const context = withdrawal('crash:signed', { amount: '4' });
  await submit(first, context);
  const hash = await eventually(async () => (await first.entry('crash:signed'))?.tx_hash ?? null);
  await first.end('SIGKILL');
  // As if the broadcast had never arrived.
  await eventually(async () => {
    await chain.client.dropTransaction({ hash: hash as `0x${string}` });
    return true;
  });
  await chain.client.setAutomine(true);
  const second = await startVenueProcess(data, chain.settings);
  expect(await settled(second, context)).toMatchObject({ output: { tx_hash: hash } });
  await second.end('SIGKILL');
  expect((await chain.received()) - before).toBe(4_000_000n);
});

test('killed at any moment under load, the venue pays every accepted order exactly once', async () => {
  const data = folder();
  const before = await chain.received();
  const contexts = Array.from({ length: 40 }, (_, index) =>
    withdrawal(`load:${index}`, { amount: '1' }),
  );
  for (const pause of [5, 15, 40, 90]) {
    const venue = await startVenueProcess(data, chain.settings);
    const calls = contexts.map((context) => submit(venue, context).catch(() => null));
    await sleep(pause);
    await venue.end('SIGKILL');
    await Promise.all(calls);
  }
  const last = await startVenueProcess(data, chain.settings);
  await Promise.all(contexts.map((context) => submit(last, context)));
  await Promise.all(contexts.map((context) => settled(last, context)));
  expect((await chain.received()) - before).toBe(40_000_000n);
  const { entries } = (await last.get('/ledger')) as { entries: { effects: number }[] };
  expect(entries.map((entry) => entry.effects)).toEqual(contexts.map(() => 1));
  const { balances } = (await last.get('/accounts/paper-main/balances')) as { balances: unknown[] };
  expect(balances).toContainEqual(expect.objectContaining({ asset: 'USDC', available: '999960' }));
  await last.end('SIGKILL');
}, 120_000);

test('a chain put back to an older state gets the lost transfers again', async () => {
  const data = folder();
  const venue = await startVenueHere(data, chain.settings);
  const context = withdrawal('rollback:1', { amount: '2' });
  const before = await chain.received();
  const snapshot = await chain.client.snapshot();
  await submit(venue, context);
  const done = await settled(venue, context);
  await chain.client.revert({ id: snapshot });
  expect(await chain.received()).toBe(before);
  expect(await settled(venue, context)).toMatchObject({ output: done.output });
  expect((await chain.received()) - before).toBe(2_000_000n);
  await venue.end();
});

test('orders accepted while the chain is away are paid when it is back', async () => {
  const data = folder();
  const own = await startChain();
  const away = { ...own.settings, rpcUrl: 'http://127.0.0.1:1' };
  const first = await startVenueHere(data, away);
  const context = withdrawal('away:1', { amount: '2' });
  expect(await submit(first, context)).toMatchObject({ next_state: 'SUBMITTED' });
  expect(await first.executor.observe(context, call(), journal)).toMatchObject({
    next_state: 'OBSERVING',
  });
  await first.end();
  const second = await startVenueHere(data, own.settings);
  await settled(second, context);
  expect(await own.received()).toBe(2_000_000n);
  await second.end();
  await own.stop();
});

test('a last line cut off by a crash is dropped, a damaged one in the middle stops the start', async () => {
  const data = folder();
  const settings = { port: 0, dataDir: data, chain: chain.settings };
  await (await startVenue(settings)).close();
  const file = join(data, 'ledger.jsonl');
  const whole = readFileSync(file, 'utf8');
  appendFileSync(file, '{"type":"accepted","at":"20');
  await (await startVenue(settings)).close();
  expect(readFileSync(file, 'utf8')).toBe(whole);
  appendFileSync(file, '{"type":"what"}\n');
  await expect(startVenue(settings)).rejects.toThrow('line 2 is not an event of this log');
});

test('a ledger of another chain and a ledger in use are refused', async () => {
  const data = folder();
  const settings = { port: 0, dataDir: data, chain: chain.settings };
  const running = await startVenue(settings);
  const other = await startVenueProcess(data, chain.settings).catch((error: unknown) =>
    String(error),
  );
  expect(other).toMatch(/another paper venue is using/);
  await running.close();
  await expect(
    startVenue({ ...settings, chain: { ...chain.settings, chainId: 5 } }),
  ).rejects.toThrow('written for another chain');
}, 90_000);

test('the process ends with a signal, and with its parent', async () => {
  const first = await startVenueProcess(folder(), chain.settings);
  expect(await first.end('SIGTERM')).toBe(0);
  const second = await startVenueProcess(folder(), chain.settings);
  second.child.disconnect();
  await eventually(async () => second.child.exitCode);
  expect(second.child.exitCode).toBe(0);
  await second.executor.close();
}, 150_000);
