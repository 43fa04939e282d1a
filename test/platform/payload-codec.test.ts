/** Encrypted payloads: what comes back, what is refused, and what a setting may say. */
import { createCipheriv, randomBytes } from 'node:crypto';
import { DefaultPayloadConverter, type Payload } from '@temporalio/common';
import { ConfigError, readConfig } from '../../platform/config.ts';
import { createPayloadCodec } from '../../platform/payload-codec.ts';
import { parsePayloadKeys, type PayloadKey } from '../../platform/payload-keys.ts';

const bytes = (fill: number): string => Buffer.alloc(32, fill).toString('base64');
const converter = new DefaultPayloadConverter();

function keys(text: string): readonly PayloadKey[] {
  const parsed = parsePayloadKeys(text);
  if (!parsed.ok) throw new Error(parsed.faults.join('; '));
  return parsed.keys;
}

const old = createPayloadCodec(keys(`2025:${bytes(1)}`));
const rotated = createPayloadCodec(keys(`2026:${bytes(2)}, 2025:${bytes(1)}`));
const after = createPayloadCodec(keys(`2026:${bytes(2)}`));
const value = { movement_id: '0190-secret', nested: [1, 'ü', null] };
const plain = converter.toPayload(value);

function read(payload: Payload | undefined): unknown {
  if (payload === undefined) throw new Error('no payload');
  return converter.fromPayload(payload);
}

async function sealed(): Promise<Payload> {
  const [payload] = await old.encode([plain]);
  if (payload === undefined) throw new Error('no payload');
  return payload;
}

describe('the codec', () => {
  it('returns its input in order, and shows nothing of it between', async () => {
    const written = await old.encode([
      plain,
      converter.toPayload('two'),
      converter.toPayload(undefined),
    ]);
    const wire = Buffer.concat(
      written.flatMap(({ data, metadata }) => [
        data ?? Buffer.of(),
        ...Object.values(metadata ?? {}),
      ]),
    );
    expect(wire.toString('latin1')).not.toMatch(/secret|json|two/);
    expect((await old.decode(written)).map(read)).toEqual([value, 'two', undefined]);
    expect(await old.encode([])).toEqual([]);
  });

  it('never writes the same bytes twice', async () => {
    const [one, two] = await old.encode([plain, plain]);
    expect(Buffer.from(one?.data ?? []).equals(Buffer.from(two?.data ?? []))).toBe(false);
  });

  it('reads what was written under an older key, and writes under the first', async () => {
    expect((await rotated.decode([await sealed()])).map(read)).toEqual([value]);
    const [written] = await rotated.encode([plain]);
    expect(Buffer.from(written?.metadata?.['encryption-key-id'] ?? []).toString()).toBe('2026');
    expect((await after.decode([written ?? {}])).map(read)).toEqual([value]);
  });

  it('reads what was written before it was switched on', async () => {
    expect(await old.decode([plain])).toEqual([plain]);
    expect((await old.decode([plain, await sealed()])).map(read)).toEqual([value, value]);
  });

  it('says which key is missing', async () => {
    await expect(after.decode([await sealed()])).rejects.toThrow(
      'encrypted with key "2025", which SVC_PAYLOAD_KEYS does not hold',
    );
    const named = {
      metadata: {
        encoding: Buffer.from('binary/encrypted'),
        'encryption-key-id': Buffer.from('a\nb\u202e'),
      },
      data: Buffer.of(1),
    };
    await expect(after.decode([named])).rejects.toThrow('with key "a?b?",');
  });

  it('refuses what was altered, cut short or sealed under another key of the same name', async () => {
    const payload = await sealed();
    const data = Buffer.from(payload.data ?? []);
    for (const place of [0, 12, data.byteLength - 1]) {
      const altered = Buffer.from(data);
      altered.writeUInt8(altered.readUInt8(place) ^ 1, place);
      await expect(old.decode([{ ...payload, data: altered }])).rejects.toThrow('was altered');
    }
    for (const length of [0, 27])
      await expect(old.decode([{ ...payload, data: data.subarray(0, length) }])).rejects.toThrow(
        'cut short',
      );
    await expect(old.decode([{ ...payload, data: data.subarray(0, -1) }])).rejects.toThrow(
      'was altered',
    );
    const namesake = createPayloadCodec(keys(`2025:${bytes(9)}`));
    await expect(namesake.decode([payload])).rejects.toThrow('its key "2025" is not the one');
  });

  it("reads the form of Temporal's sample codecs in other languages", async () => {
    // Nonce, ciphertext, tag; within it the payload as protobuf, here by hand: metadata {encoding},
    // data.
    const field = (tag: number, content: Buffer): Buffer =>
      Buffer.concat([Buffer.of(tag, content.byteLength), content]);
    const entry = Buffer.concat([
      field(0x0a, Buffer.from('encoding')),
      field(0x12, Buffer.from('json/plain')),
    ]);
    const message = Buffer.concat([field(0x0a, entry), field(0x12, Buffer.from('"hello"'))]);
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', Buffer.alloc(32, 1), nonce);
    const data = Buffer.concat([
      nonce,
      cipher.update(message),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
    const metadata = {
      encoding: Buffer.from('binary/encrypted'),
      'encryption-key-id': Buffer.from('2025'),
    };
    expect((await old.decode([{ metadata, data }])).map(read)).toEqual(['hello']);
  });
});

describe('SVC_PAYLOAD_KEYS', () => {
  const settings = { SVC_AUTH_ENABLED: 'false', SVC_DATABASE_URL: 'postgresql://localhost/x' };

  it('is read, and absent means no encryption', () => {
    expect(readConfig(settings).payloadKeys).toEqual([]);
    expect(readConfig({ ...settings, SVC_PAYLOAD_KEYS: '' }).payloadKeys).toEqual([]);
    const read = readConfig({
      ...settings,
      SVC_PAYLOAD_KEYS: `a:${bytes(1)},b:${bytes(2)}`,
    }).payloadKeys;
    expect(read.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(JSON.stringify(read)).not.toContain(bytes(1).slice(0, 10));
  });

  it.each([
    ['no id', bytes(7), 'entry 1 must be <id>:'],
    ['a bad id', `a b:${bytes(7)}`, 'entry 1: the id'],
    ['an empty id', `:${bytes(7)}`, 'entry 1: the id'],
    ['31 bytes', `a:${bytes(1)},b:${Buffer.alloc(31, 7).toString('base64')}`, 'entry 2: the key'],
    ['33 bytes', `a:${Buffer.alloc(33, 7).toString('base64')}`, 'entry 1: the key'],
    ['hex', `a:${Buffer.alloc(32, 7).toString('hex')}`, 'entry 1: the key'],
    ['an id twice', `a:${bytes(1)},a:${bytes(7)}`, 'entry 2 has the id'],
    ['nothing after a comma', `a:${bytes(1)},`, 'entry 2 must be'],
  ])('with %s is a fault beside the others, and shows no key', (_name, text, fault) => {
    const faulty = (): unknown =>
      readConfig({ ...settings, SVC_PORT: 'x', SVC_PAYLOAD_KEYS: text });
    expect(faulty).toThrow(ConfigError);
    try {
      faulty();
    } catch (error) {
      const { faults, message } = error as ConfigError;
      expect(faults).toEqual(
        expect.arrayContaining([
          expect.stringContaining(`SVC_PAYLOAD_KEYS: ${fault}`),
          expect.stringContaining('SVC_PORT'),
        ]),
      );
      expect(message).not.toMatch(/BwcHBwc|070707/);
    }
  });
});
