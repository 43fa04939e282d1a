/** The backend `managed_kms_evm` against a key service over HTTP that does all that KMS may do. */
import { inspect } from 'node:util';
import fc from 'fast-check';
import { keccak256, toHex, type Hex } from 'viem';
import { sign as signHash } from 'viem/accounts';
import { RECENT_IDENTITY_MS, type Signer } from '../../domain/signer.ts';
import { CURVE_ORDER, HIGHEST_S, readDerSignature, signatureOf } from '../../signers/ecdsa.ts';
import { openKms } from '../../signers/kms-client.ts';
import { addressOf, createKmsSigner } from '../../signers/kms.ts';
import { createLocalSigner } from '../../signers/local.ts';
import { cachedIdentity } from '../../signers/recent.ts';
import {
  amzError,
  der,
  spkiOf,
  startFakeKeyService,
  type FakeKeyService,
} from '../support/key-service.ts';
import { ADDRESS, KEY, OTHER_ADDRESS, OTHER_KEY, TYPED, UNSIGNED } from './support.ts';

const identity = { signer_key: 'kms', chain_family: 'evm' } as const;
const local = createLocalSigner(identity, KEY);
let service: FakeKeyService;
let signer: Signer;

beforeAll(() => {
  process.env['AWS_ACCESS_KEY_ID'] = 'an-id';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'a-secret-of-the-account';
});
beforeEach(async () => {
  await service?.close();
  await signer?.close?.();
  service = await startFakeKeyService(KEY);
  const key = { key_id: 'alias/treasury', region: 'eu-central-1', endpoint: service.url };
  signer = createKmsSigner(identity, await openKms(key));
});
afterAll(async () => {
  await signer?.close?.();
  await service?.close();
});

describe('a signer of a key service', () => {
  it.each([false, true])('signs what a local one would, high s returned: %s', async (highS) => {
    service.highS = highS;
    expect(await signer.signEvmTransaction(UNSIGNED, 7, ADDRESS)).toEqual(
      await local.signEvmTransaction(UNSIGNED, 7),
    );
    expect(await signer.signEvmTypedData(TYPED, ADDRESS)).toEqual(
      await local.signEvmTypedData(TYPED),
    );
    // With the address as input it does not read it.
    expect(service.calls).toEqual(['Sign', 'Sign']);
  });

  it('without an address signs by the key there is', async () => {
    expect(await signer.signEvmTransaction(UNSIGNED, 7)).toEqual(
      await local.signEvmTransaction(UNSIGNED, 7),
    );
  });

  it('returns its address, read each time; `recentIdentity` may be a recent one', async () => {
    expect(await signer.recentIdentity()).toBe(ADDRESS);
    service.key = OTHER_KEY;
    expect(await signer.recentIdentity()).toBe(ADDRESS);
    expect(await signer.identity()).toBe(OTHER_ADDRESS);
    expect(await signer.recentIdentity()).toBe(OTHER_ADDRESS);
    expect(service.calls).toHaveLength(2);
  });

  it('refuses what another key signed than that of the address', async () => {
    expect(await signer.identity()).toBe(ADDRESS);
    service.key = OTHER_KEY;
    const refused = { code: 'SIGNER_ANSWER_INVALID', message: /another key/ };
    for (const signing of [
      signer.signEvmTransaction(UNSIGNED, 7, ADDRESS),
      signer.signEvmTypedData(TYPED, ADDRESS),
    ])
      await expect(signing).rejects.toMatchObject({
        ...refused,
        message: expect.stringMatching(refused.message),
      });
  });

  test.each<[string, (answer: Record<string, string>) => Record<string, string>]>([
    ['another curve', (answer) => ({ ...answer, KeySpec: 'ECC_NIST_P256' })],
    ['another use', (answer) => ({ ...answer, KeyUsage: 'KEY_AGREEMENT' })],
    ['no key', ({ PublicKey: _none, ...answer }) => answer],
    ['a key of another curve', (answer) => ({ ...answer, PublicKey: spkiOf(KEY, 'prime256v1') })],
    ['no DER', (answer) => ({ ...answer, PublicKey: 'AAAA' })],
    ['a point that is not on the curve', (answer) => ({ ...answer, PublicKey: offCurve() })],
  ])('has no address when the service tells %s', async (_what, change) => {
    service.change = change;
    await expect(signer.identity()).rejects.toMatchObject({ code: 'SIGNER_ANSWER_INVALID' });
  });

  test.each<[string, string]>([
    ['nothing', ''],
    ['r of zero', der(0n, 5n).toString('base64')],
    ['s of the order', der(5n, CURVE_ORDER).toString('base64')],
    ['one byte more', Buffer.concat([der(5n, 5n), Buffer.alloc(1)]).toString('base64')],
    ['a signature of an unknown key', der(5n, 5n).toString('base64')],
  ])('signs nothing when the service gives %s', async (_what, Signature) => {
    service.change = (answer) => ({ ...answer, Signature });
    await expect(signer.signEvmTransaction(UNSIGNED, 7, ADDRESS)).rejects.toMatchObject({
      code: 'SIGNER_ANSWER_INVALID',
    });
  });

  test.each([
    ['AccessDeniedException', 400, 'SIGNER_REFUSED'],
    ['NotFoundException', 400, 'SIGNER_REFUSED'],
    ['DisabledException', 400, 'SIGNER_REFUSED'],
    ['ThrottlingException', 400, 'SIGNER_UNREACHABLE'],
    ['KMSInternalException', 500, 'SIGNER_UNREACHABLE'],
  ])('on %s it says so, and nothing secret', async (name, status, code) => {
    service.answer = amzError(name, status);
    const error: unknown = await signer.identity().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code,
      message: `the key service answered ${String(status)} (${name})`,
    });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/arn:aws|a-secret-of/);
  });

  it('is unreachable when the service does not answer, within its time, or is not there', async () => {
    service.answer = () => undefined;
    const started = performance.now();
    await expect(signer.identity()).rejects.toMatchObject({ code: 'SIGNER_UNREACHABLE' });
    expect(performance.now() - started).toBeLessThan(15_000);
    await service.close();
    await expect(signer.signEvmTransaction(UNSIGNED, 7, ADDRESS)).rejects.toMatchObject({
      code: 'SIGNER_UNREACHABLE',
    });
    service = await startFakeKeyService(KEY);
  });
});

/** The key's own DER with the last byte of y changed. */
function offCurve(): string {
  const bytes = Buffer.from(spkiOf(KEY), 'base64');
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
  return bytes.toString('base64');
}

describe('ECDSA', () => {
  it('reads every signature in DER, and none with a byte changed at its frame', () => {
    const scalar = fc.bigInt({ min: 1n, max: CURVE_ORDER - 1n });
    fc.assert(
      fc.property(scalar, scalar, (r, s) => {
        const bytes = der(r, s);
        expect(readDerSignature(bytes)).toEqual({ r, s });
        for (const cut of [bytes.subarray(1), bytes.subarray(0, -1)])
          expect(readDerSignature(cut)).toBeNull();
      }),
    );
    expect(readDerSignature(Buffer.from('300702020005020105', 'hex'))).toBeNull();
    expect(readDerSignature(Buffer.from('3006020185020105', 'hex'))).toBeNull();
  });

  it('finds the low form and the recovery id of either s', async () => {
    for (let index = 0; index < 20; index += 1) {
      const hash = keccak256(toHex(index));
      const { r, s } = await signHash({ hash, privateKey: KEY });
      for (const sValue of [BigInt(s), CURVE_ORDER - BigInt(s)]) {
        const found = await signatureOf(ADDRESS, hash, { r: BigInt(r), s: sValue });
        expect(BigInt(found?.s ?? 0)).toBeLessThanOrEqual(HIGHEST_S);
        expect(found).toMatchObject({ r, s });
      }
      expect(await signatureOf(OTHER_ADDRESS, hash, { r: BigInt(r), s: BigInt(s) })).toBeNull();
    }
  });

  it('takes the address from a public key in DER', () => {
    for (const [key, address] of [
      [KEY, ADDRESS],
      [OTHER_KEY, OTHER_ADDRESS],
    ] as readonly (readonly [Hex, string])[])
      expect(addressOf(Buffer.from(spkiOf(key), 'base64'))).toBe(address);
  });
});

describe('a recent identity', () => {
  it('is read once for concurrent callers, again when it is old, and no failure is kept', async () => {
    let [clock, reads] = [0, 0];
    let answer: () => Promise<string> = () => Promise.resolve('a');
    const ids = cachedIdentity(
      () => {
        reads += 1;
        return answer();
      },
      () => clock,
    );
    expect(await Promise.all([ids.recentIdentity(), ids.recentIdentity()])).toEqual(['a', 'a']);
    clock = RECENT_IDENTITY_MS - 1;
    await ids.recentIdentity();
    expect(reads).toBe(1);
    clock = RECENT_IDENTITY_MS;
    answer = () => Promise.reject(new Error('down'));
    await expect(ids.recentIdentity()).rejects.toThrow('down');
    answer = () => Promise.resolve('b');
    expect(await ids.recentIdentity()).toBe('b');
    expect(reads).toBe(3);
  });
});
