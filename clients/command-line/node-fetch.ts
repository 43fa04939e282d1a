/**
 * `fetch` over Node's http client, as far as the API's client needs it. Loading and starting the
 * global `fetch` takes longer than all else that a command does.
 */
import type { IncomingMessage, request as Request } from 'node:http';
import type { Fetch } from '../http/transport.ts';

/** Limit of a connect: until then nothing was sent, so a write is safe to repeat. */
const CONNECT_MS = 10_000;

/** Sends one request and reads the whole answer; follows no redirect. */
export const nodeFetch: Fetch = async (url, init) => {
  init.signal.throwIfAborted();
  const answer = await begin(url, init);
  answer.setEncoding('utf8');
  let text = '';
  for await (const chunk of answer) text += String(chunk);
  return {
    status: answer.statusCode ?? 0,
    headers: {
      get: (name) => {
        const value = answer.headers[name.toLowerCase()];
        return typeof value === 'object' ? value.join(', ') : (value ?? null);
      },
    },
    text: () => Promise.resolve(text),
  };
};

async function begin(
  url: string,
  { method, headers, body, signal }: Parameters<Fetch>[1],
): Promise<IncomingMessage> {
  const isTls = url.startsWith('https:');
  const request: typeof Request = isTls
    ? (await import('node:https')).request
    : (await import('node:http')).request;
  const length = body === undefined ? {} : { 'content-length': String(body.byteLength) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { ...headers, ...length }, signal });
    sent.on('error', reject);
    sent.once('response', resolve);
    sent.once('socket', (socket) => {
      if (!socket.connecting) return;
      const timer = setTimeout(() => {
        const error = new Error(`no connection within ${String(CONNECT_MS / 1000)} s`);
        sent.destroy(Object.assign(error, { code: 'UND_ERR_CONNECT_TIMEOUT' }));
      }, CONNECT_MS);
      const stop = (): void => {
        clearTimeout(timer);
      };
      socket.once(isTls ? 'secureConnect' : 'connect', stop).once('close', stop);
    });
    sent.end(body);
  });
}
