/** One call to an address of our settings: nothing is written once its time is over. */
import { jest } from '@jest/globals';
import { Agent, buildConnector, request } from 'undici';
import { deadline } from '../../platform/deadline.ts';
import { callOnce } from '../../platform/outgoing/call.ts';
import { writtenInTime } from '../../platform/outgoing/in-time.ts';
import { startFakeServer, type FakeServer } from '../executors/fake-server.ts';

let server: FakeServer;
beforeEach(async () => {
  server = await startFakeServer();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await server.close();
});

/** Makes connections, after which the wall clock is `ms` ahead: the machine was suspended. */
function agentAsleep(ms: number): Agent {
  const connect = buildConnector({});
  return new Agent({
    pipelining: 0,
    connect: (target, callback) =>
      connect(target, (...answer) => {
        const wall_ms = Date.now() + ms;
        jest.spyOn(Date, 'now').mockReturnValue(wall_ms);
        callback(...answer);
      }),
  });
}

const callOf = (dispatcher: Agent, notAfter: number) => ({
  method: 'POST' as const,
  url: `${server.url}/submit`,
  headers: {},
  body: '{}',
  timeoutMs: 30_000,
  limitBytes: 1_000,
  dispatcher,
  limits: { signal: new AbortController().signal, notAfter },
});

test('a call whose machine is suspended while it connects is written only within its time', async () => {
  const dispatcher = agentAsleep(2_000);
  const late = callOnce(callOf(dispatcher, Date.now() + 1_000));
  await expect(late).rejects.toMatchObject({ problem: 'timeout' });
  expect(server.seen).toEqual([]);
  jest.restoreAllMocks();
  const answer = await callOnce(callOf(dispatcher, Date.now() + 20_000));
  expect([answer.status, server.seen.length]).toEqual([200, 1]);
  await dispatcher.destroy();
});

test('an answer comes whole through the check, and the next request is not kept by a late one', async () => {
  const dispatcher = new Agent({ pipelining: 0 });
  const call = { signal: new AbortController().signal };
  for (const milliseconds of [30_000, 0, 30_000]) {
    const limit = deadline(call, milliseconds);
    const sent = request(server.url, { dispatcher: writtenInTime(dispatcher, limit) });
    if (milliseconds === 0) await expect(sent).rejects.toThrow('time limit reached');
    else expect(await (await sent).body.json()).toEqual({});
    limit.clear();
  }
  expect(server.seen).toHaveLength(2);
  await dispatcher.destroy();
});
