/** A chain's endpoint that keeps calls of a method back for as long as a test wants. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HeldRpc {
  readonly url: string;
  /** From now on calls of this method are kept back; null lets all go, also those kept so far. */
  hold(method: string | null): void;
  /** Calls that are kept back now. */
  held(): number;
  close(): Promise<void>;
}

/** Passes everything else on to `target` as it is. */
export async function openHeldRpc(target: string): Promise<HeldRpc> {
  let method: string | null = null;
  let waiting: (() => void)[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let body = '';
      for await (const part of request) body += String(part);
      if (method !== null && body.includes(`"${method}"`))
        await new Promise<void>((resolve) => waiting.push(resolve));
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(target, { method: 'POST', headers, body });
      response.writeHead(answer.status, headers).end(await answer.text());
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const hold = (next: string | null): void => {
    method = next;
    if (next !== null) return;
    for (const go of waiting) go();
    waiting = [];
  };
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    hold,
    held: () => waiting.length,
    close: () =>
      new Promise((resolve) => {
        hold(null);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
