/**
 * A key service that speaks KMS over real HTTP, with keys that the test knows, and misbehaves as no
 * emulator does.
 */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { createECDH, createPublicKey } from 'node:crypto';
import { hexToBytes, type Hex } from 'viem';
import { sign } from 'viem/accounts';
import { CURVE_ORDER } from '../../signers/ecdsa.ts';

export interface FakeKeyService {
  readonly url: string;
  /** The key behind every alias. */
  key: Hex;
  /** Signs with another key than the one that it tells. */
  signsWith: Hex | null;
  /** Instead of an answer to anything: what becomes of a call. */
  answer: ((response: ServerResponse) => void) | null;
  /** Changes what would be answered. */
  change: (answer: Record<string, string>) => Record<string, string>;
  /** Gives the other of the two values of s, which is as right. */
  highS: boolean;
  /** Operations by their names, as they came. */
  readonly calls: string[];
  close(): Promise<void>;
}

/** Listens on a free port of this machine and takes any credentials. */
export async function startFakeKeyService(key: Hex): Promise<FakeKeyService> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const operation = String(request.headers['x-amz-target']).replace('TrentService.', '');
      const input = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { Message?: string };
      service.calls.push(operation);
      if (service.answer !== null) return service.answer(response);
      const answering =
        operation === 'GetPublicKey'
          ? Promise.resolve(publicKey(service.key))
          : signature(service, Buffer.from(input.Message ?? '', 'base64'));
      void answering.then((answer) => amz(response, 200, service.change(answer)));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  const service: FakeKeyService = {
    url: `http://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}`,
    key,
    signsWith: null,
    answer: null,
    change: (answer) => answer,
    highS: false,
    calls: [],
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return service;
}

/** An error as the service answers it. */
export function amzError(name: string, status: number): (response: ServerResponse) => void {
  return (response) => amz(response, status, { __type: name, message: 'arn:aws:iam::1:user/x' });
}

function amz(response: ServerResponse, status: number, body: Record<string, string>): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
  response.end(JSON.stringify(body));
}

/** DER of a public key on a named curve. */
export function spkiOf(key: Hex, curve = 'secp256k1'): string {
  const pair = createECDH(curve);
  pair.setPrivateKey(Buffer.from(hexToBytes(key)));
  const point = pair.getPublicKey();
  const half = (point.length - 1) / 2;
  const jwk = {
    kty: 'EC',
    crv: curve === 'secp256k1' ? 'secp256k1' : 'P-256',
    x: point.subarray(1, 1 + half).toString('base64url'),
    y: point.subarray(1 + half).toString('base64url'),
  };
  return createPublicKey({ key: jwk, format: 'jwk' })
    .export({ format: 'der', type: 'spki' })
    .toString('base64');
}

function publicKey(key: Hex): Record<string, string> {
  return {
    KeyId: 'arn:aws:kms:eu-central-1:1:key/1',
    KeySpec: 'ECC_SECG_P256K1',
    KeyUsage: 'SIGN_VERIFY',
    PublicKey: spkiOf(key),
  };
}

async function signature(
  { key, signsWith, highS }: FakeKeyService,
  digest: Buffer,
): Promise<Record<string, string>> {
  const { r, s } = await sign({
    hash: `0x${digest.toString('hex')}`,
    privateKey: signsWith ?? key,
  });
  const encodedS = highS ? CURVE_ORDER - BigInt(s) : BigInt(s);
  return { Signature: der(BigInt(r), encodedS).toString('base64') };
}

/** As a DER SEQUENCE of two INTEGERs. */
export function der(r: bigint, s: bigint): Buffer {
  const parts = Buffer.concat([integer(r), integer(s)]);
  return Buffer.concat([Buffer.from([0x30, parts.length]), parts]);
}

function integer(value: bigint): Buffer {
  const digits = value.toString(16);
  const bytes = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex');
  const padded = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes;
  return Buffer.concat([Buffer.from([0x02, padded.length]), padded]);
}
