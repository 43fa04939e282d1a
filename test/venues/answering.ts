/** An endpoint of a chain that answers some questions itself. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The parameters of an `eth_call`, in lower case. */
export interface EthCall {
  readonly to: string;
  readonly from: string;
  readonly data: string;
}

/**
 * An endpoint that answers some calls itself, and all else as that of a chain does. `others`: what
 * it answers itself beside calls, by the method.
 */
export async function startAnswering(
  rpcUrl: string,
  answer: (rpcRequest: EthCall) => object | null,
  others: (method: string) => object | null = () => null,
) {
  const server: Server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      const rpcRequest = JSON.parse(body) as {
        id: number;
        method: string;
        params?: Partial<EthCall>[];
      };
      const headers = { 'content-type': 'application/json' };
      const { to = '', from = '', data = '' } = rpcRequest.params?.[0] ?? {};
      const own =
        rpcRequest.method === 'eth_call'
          ? answer({ to: to.toLowerCase(), from: from.toLowerCase(), data: data.toLowerCase() })
          : others(rpcRequest.method);
      if (own !== null) {
        response
          .writeHead(200, headers)
          .end(JSON.stringify({ jsonrpc: '2.0', id: rpcRequest.id, ...own }));
        return;
      }
      const forwarded = await fetch(rpcUrl, { method: 'POST', body, headers });
      response.writeHead(forwarded.status, headers).end(await forwarded.text());
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
