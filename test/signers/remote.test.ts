/** The backend `remote` against a proxy over HTTP that may do anything. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import type { Signer } from '../../domain/signer.ts';
import { createLocalSigner } from '../../signers/local.ts';
import { createRemoteSigner } from '../../signers/remote.ts';
import {
  PROXY_TOKEN,
  startSignerProxy,
  type Misbehaviour,
  type SignerProxy,
} from '../support/signer-proxy.ts';
import { ADDRESS, KEY, OTHER_ADDRESS, TYPED, UNSIGNED } from './support.ts';

const identity = { signer_key: 'far', chain_family: 'evm' } as const;
const local = createLocalSigner(identity, KEY);
let folder: string;
let tokenFile: string;
let proxy: SignerProxy;
let signer: Signer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'remote-signer-'));
  tokenFile = join(folder, 'token');
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(async () => {
  await writeFile(tokenFile, `${PROXY_TOKEN}\n`, { mode: 0o600 });
  proxy = await startSignerProxy(KEY);
  const settings = { url: `${proxy.url}/`, auth_token_file: tokenFile, timeout_seconds: 0.5 };
  signer = createRemoteSigner(identity, settings);
});
afterEach(async () => {
  await signer.close?.();
  await proxy.close();
});

const faultOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'it was taken',
    (error: unknown) => error,
  );

describe('a remote signer', () => {
  it('signs what a local one would, with the token and an id of each call', async () => {
    expect(await signer.signEvmTransaction(UNSIGNED, 7, ADDRESS)).toEqual(
      await local.signEvmTransaction(UNSIGNED, 7),
    );
    expect(await signer.signEvmTypedData(TYPED, ADDRESS)).toEqual(
      await local.signEvmTypedData(TYPED),
    );
    const [first, second] = proxy.seen;
    expect(first?.body).toEqual({
      kind: 'evm_transaction',
      payload: UNSIGNED,
      nonce: 7,
      request_id: expect.any(String),
    });
    expect(second?.body).toMatchObject({ kind: 'evm_typed_data', payload: TYPED });
    expect(first?.headers).toMatchObject({
      authorization: `Bearer ${PROXY_TOKEN}`,
      'x-request-id': first?.body['request_id'],
    });
    expect(first?.body['request_id']).not.toBe(second?.body['request_id']);
  });

  it('returns its address, read each time', async () => {
    expect(await signer.identity()).toBe(ADDRESS);
    proxy.claimed = OTHER_ADDRESS.toLowerCase();
    expect(await signer.recentIdentity()).toBe(ADDRESS);
    expect(await signer.identity()).toBe(OTHER_ADDRESS);
  });

  it('has no address when it tells none, or zero', async () => {
    for (const claimed of ['', 'nonsense', `0x${'0'.repeat(40)}`]) {
      proxy.claimed = claimed;
      await expect(signer.identity()).rejects.toMatchObject({ code: 'SIGNER_ANSWER_INVALID' });
    }
  });

  test.each<[Misbehaviour, string]>([
    ['another nonce', 'SIGNER_ANSWER_INVALID'],
    ['another payee', 'SIGNER_ANSWER_INVALID'],
    ['another amount', 'SIGNER_ANSWER_INVALID'],
    ['another key', 'SIGNER_ANSWER_INVALID'],
    ['another encoding', 'SIGNER_ANSWER_INVALID'],
    ['no bytes', 'SIGNER_ANSWER_INVALID'],
    ['hangs', 'SIGNER_UNREACHABLE'],
    ['hangs in the middle', 'SIGNER_UNREACHABLE'],
    ['answers 401', 'SIGNER_REFUSED'],
    ['answers 500', 'SIGNER_UNREACHABLE'],
    ['answers HTML', 'SIGNER_ANSWER_INVALID'],
    ['answers nothing', 'SIGNER_ANSWER_INVALID'],
    ['redirects', 'SIGNER_ANSWER_INVALID'],
    ['too large', 'SIGNER_ANSWER_INVALID'],
  ])('that does this is refused, once and for good: %s', async (misbehaviour, code) => {
    proxy.misbehaves = misbehaviour;
    const error = await faultOf(signer.signEvmTransaction(UNSIGNED, 7, ADDRESS));
    expect(error).toMatchObject({ name: 'SignerFault', code });
    expect(proxy.seen.map(({ path }) => path)).toEqual(['/sign']);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(PROXY_TOKEN);
  });

  it('is not read to the end when it says too much, nor followed when it leads elsewhere', async () => {
    proxy.misbehaves = 'too large';
    await expect(signer.signEvmTransaction(UNSIGNED, 7, ADDRESS)).rejects.toThrow(
      'the answer is longer than 524288 bytes',
    );
    proxy.misbehaves = 'redirects';
    proxy.always = true;
    await expect(signer.identity()).rejects.toThrow('answered 307');
  });

  it('whose typed data another key signed is refused', async () => {
    proxy.misbehaves = 'another key';
    await expect(signer.signEvmTypedData(TYPED, ADDRESS)).rejects.toMatchObject({
      code: 'SIGNER_ANSWER_INVALID',
    });
  });

  it('is held to the address that was meant, not to the one that it tells', async () => {
    proxy.claimed = OTHER_ADDRESS;
    await expect(signer.signEvmTransaction(UNSIGNED, 7, OTHER_ADDRESS)).rejects.toMatchObject({
      code: 'SIGNER_ANSWER_INVALID',
    });
  });

  it('is called with the token that the file holds now, and not at all without one', async () => {
    await writeFile(tokenFile, 'an-old-one');
    await expect(signer.identity()).rejects.toMatchObject({ code: 'SIGNER_REFUSED' });
    await writeFile(tokenFile, PROXY_TOKEN);
    expect(await signer.identity()).toBe(ADDRESS);
    const before = proxy.seen.length;
    await writeFile(tokenFile, '');
    await expect(signer.identity()).rejects.toMatchObject({ code: 'SIGNER_UNREACHABLE' });
    expect(proxy.seen).toHaveLength(before);
  });
});
