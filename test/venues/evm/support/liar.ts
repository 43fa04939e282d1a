/** An endpoint in front of another one, which answers what a test wants. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RpcRequest {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What comes of an answer: another one, an error, or the connection is cut. */
export type Twist = (methods: RpcRequest, answer: unknown) => unknown;
export const CUT = Symbol('cut');
/** The endpoint answers with an error of JSON-RPC. */
export const LIMITED = Symbol('limited');

export interface Liar {
  readonly url: string;
  /** Called methods, in order. */
  readonly methods: string[];
  twist(by: Twist): void;
  stop(): Promise<void>;
}

const truth: Twist = (_request, answer) => answer;

/** Starts an endpoint that answers truthfully until `twist` replaces its answers. */
export async function startLiar(target: string): Promise<Liar> {
  const methods: string[] = [];
  let by = truth;
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      const { method, params = [] } = JSON.parse(body) as Partial<RpcRequest>;
      const question = { method: method ?? '', params };
      methods.push(question.method);
      const headers = { 'content-type': 'application/json' };
      const answer = (await (await fetch(target, { method: 'POST', body, headers })).json()) as {
        result?: unknown;
      };
      const twisted = by(question, answer.result);
      if (twisted === CUT) return void response.destroy();
      response.setHeader('content-type', 'application/json');
      if (twisted === LIMITED) {
        const error = { code: -32_005, message: 'limit exceeded' };
        return void response.end(JSON.stringify({ ...answer, result: undefined, error }));
      }
      response.end(
        JSON.stringify(twisted === answer.result ? answer : { ...answer, result: twisted }),
      );
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    methods,
    twist: (next) => {
      by = next;
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
