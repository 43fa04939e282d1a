/** Signed bytes reach no endpoint after the last moment of their send. */
import { jest } from '@jest/globals';
import { broadcast } from '../../../venues/evm/broadcast.ts';

const signed = { raw_tx: '0x02', tx_hash: '0xaa' } as const;

test('a broadcast is not made after its last moment, though the signal has not aborted yet', async () => {
  const sent: unknown[] = [];
  const { signal } = new AbortController();
  const call = { signal, notAfter: Date.now() + 20 };
  const client = { sendRawTransaction: async (bytes: unknown) => sent.push(bytes) };
  const raw = (question: (on: typeof client) => unknown) => Promise.resolve(question(client));
  const connection = { call, raw } as never;
  const late = broadcast(connection, signed, async () => {
    while (Date.now() < call.notAfter) await new Promise((next) => setTimeout(next, 1));
    return null;
  });
  await expect(late).rejects.toMatchObject({ code: 'SEND_TOO_LATE' });
  await expect(broadcast(connection, signed, async () => null)).rejects.toMatchObject({
    code: 'SEND_TOO_LATE',
  });
  expect(sent).toEqual([]);
});

test('a broadcast is not made where the process was suspended after it had read the stops', async () => {
  const sent: unknown[] = [];
  const client = {
    sendRawTransaction: async (bytes: unknown) => {
      sent.push(bytes);
      return signed.tx_hash;
    },
  };
  const raw = (question: (on: typeof client) => unknown) => Promise.resolve(question(client));
  // As of a look, which has no last moment of its own.
  const connection = { call: { signal: new AbortController().signal }, raw } as never;
  const broadcastAfter = (ms: number) =>
    broadcast(connection, signed, async () => {
      const wall_ms = Date.now() + ms;
      jest.spyOn(Date, 'now').mockReturnValue(wall_ms);
      return null;
    });
  try {
    await expect(broadcastAfter(30_000)).rejects.toMatchObject({ code: 'SEND_TOO_LATE' });
    expect(sent).toEqual([]);
    jest.restoreAllMocks();
    // The next look reads them again.
    expect(await broadcastAfter(0)).toEqual({ kind: 'accepted' });
    expect(sent).toHaveLength(1);
  } finally {
    jest.restoreAllMocks();
  }
});
