/** A proxy that holds a key, over real HTTP, and misbehaves on demand. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { z } from 'zod';
import type { EvmUnsignedTransaction } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { createLocalSigner } from '../../signers/local.ts';

/** What it does to `POST /sign`, and where it makes sense also to `GET /identity`. */
export type Misbehaviour =
  | 'another nonce'
  | 'another payee'
  | 'another amount'
  | 'another key'
  | 'another encoding'
  | 'no bytes'
  | 'hangs'
  | 'hangs in the middle'
  | 'answers 401'
  | 'answers 500'
  | 'answers HTML'
  | 'answers nothing'
  | 'redirects'
  | 'too large';

export interface SignerProxy {
  readonly url: string;
  readonly address: string;
  /** The address it tells instead of its own. */
  claimed: string | null;
  /** Null: it is honest. */
  misbehaves: Misbehaviour | null;
  /** Whether it also misbehaves when it answers its identity. */
  always: boolean;
  readonly seen: {
    readonly path: string;
    readonly headers: IncomingHttpHeaders;
    readonly body: Record<string, unknown>;
  }[];
  close(): Promise<void>;
}

export const PROXY_TOKEN = 'a-token-that-only-the-proxy-knows';

const signBody = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('evm_transaction'),
    payload: z.custom<EvmUnsignedTransaction>(),
    nonce: z.int(),
    request_id: z.uuid(),
  }),
  z.strictObject({
    kind: z.literal('evm_typed_data'),
    payload: z.custom<JsonObject>(),
    request_id: z.uuid(),
  }),
]);
type SignBody = z.infer<typeof signBody>;

/** Listens on a free port of this machine; without the token it answers 401. */
export async function startSignerProxy(privateKey: string): Promise<SignerProxy> {
  const signer = createLocalSigner({ signer_key: 'proxy', chain_family: 'evm' }, privateKey);
  const address = (await signer.identity()) ?? '';
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
      proxy.seen.push({ path: request.url ?? '', headers: request.headers, body });
      const isSign = request.method === 'POST' && request.url === '/sign';
      const wrong = isSign || proxy.always ? proxy.misbehaves : null;
      if (request.headers.authorization !== `Bearer ${PROXY_TOKEN}`)
        json(response, 401, { error: 'unauthorized' });
      else if (wrong !== null && TRANSPORT[wrong] !== undefined) TRANSPORT[wrong](response);
      else if (!isSign) json(response, 200, { address: proxy.claimed ?? address });
      else
        signed(signBody.parse(body), wrong, signer).then(
          (answer) => json(response, 200, answer),
          () => json(response, 500, {}),
        );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  const proxy: SignerProxy = {
    url: `http://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}`,
    address,
    claimed: null,
    misbehaves: null,
    always: false,
    seen: [],
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}

const other = createLocalSigner(
  { signer_key: 'other', chain_family: 'evm' },
  `0x${'8'.repeat(64)}`,
);

async function signed(
  call: SignBody,
  wrong: Misbehaviour | null,
  own: typeof other,
): Promise<object> {
  const signer = wrong === 'another key' ? other : own;
  if (call.kind === 'evm_typed_data') return signer.signEvmTypedData(call.payload);
  if (wrong === 'no bytes') return { raw_tx: null };
  const unsigned = {
    ...call.payload,
    ...(wrong === 'another payee' ? { to: `0x${'9'.repeat(40)}` } : {}),
    ...(wrong === 'another amount' ? { value: `${call.payload.value}0` } : {}),
  };
  const { raw_tx } = await signer.signEvmTransaction(
    unsigned,
    wrong === 'another nonce' ? call.nonce + 1 : call.nonce,
  );
  // A byte behind the list, which a careless reader leaves out of account.
  return { raw_tx: wrong === 'another encoding' ? `${raw_tx}00` : raw_tx };
}

const TRANSPORT: { readonly [M in Misbehaviour]?: (response: ServerResponse) => void } = {
  hangs: () => undefined,
  'hangs in the middle': (response) => void response.writeHead(200).write('{"raw_tx":"0x'),
  'answers 401': (response) => json(response, 401, { error: PROXY_TOKEN }),
  'answers 500': (response) => json(response, 500, { error: PROXY_TOKEN }),
  'answers HTML': (response) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>'),
  'answers nothing': (response) => void response.writeHead(204).end(),
  redirects: (response) => void response.writeHead(307, { location: '/identity' }).end(),
  'too large': (response) => json(response, 200, { raw_tx: `0x02${'00'.repeat(600_000)}` }),
};

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
