/**
 * Fixed signatures of another implementation, against the server's reading, the client's making and
 * the documented examples.
 */
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import {
  canonicalString,
  dashboardCanonicalString,
  signatureOf,
} from '../../api/auth/canonical.ts';
import { parseTarget } from '../../api/http/target.ts';
import { NODE_HASHING } from '../../clients/command-line/node-hashing.ts';
import { createDashboardSigner, createSigner, signatureHeaders } from '../../clients/http/index.ts';
import { createCallbackSigner } from '../../platform/callback-signature.ts';
import { VECTORS, type Vector } from './vectors.ts';

const partsOf = (vector: Vector) => {
  const { method, target, timestamp, nonce } = vector;
  return {
    method,
    ...parseTarget(target),
    body: Buffer.from(vector.body_base64, 'base64'),
    timestamp,
    nonce,
  };
};

test('there are 46 of them', () => {
  expect([VECTORS.inbound.length, VECTORS.dashboard.length, VECTORS.callbacks.length]).toEqual([
    40, 3, 3,
  ]);
});

describe('a request', () => {
  test.each(VECTORS.inbound)('is read by the server as it was signed: $name', (vector) => {
    expect(canonicalString(partsOf(vector))).toBe(vector.canonical);
    expect(signatureOf(vector.secret, partsOf(vector)).toString('hex')).toBe(vector.signature);
  });

  test.each(VECTORS.inbound)('is signed by the client as others do: $name', async (vector) => {
    const { method, target, secret, timestamp, nonce } = vector;
    const body = Buffer.from(vector.body_base64, 'base64');
    const headers = await signatureHeaders(
      { keyId: 'k', secret },
      { method, url: `http://localhost:8100${target}`, body },
      { timestamp, nonce },
    );
    expect(headers).toEqual({
      'X-SVC-Key-Id': 'k',
      'X-SVC-Timestamp': timestamp,
      'X-SVC-Nonce': nonce,
      'X-SVC-Signature': vector.signature,
    });
  });

  test.each(VECTORS.inbound)('is signed by command lines as others do: $name', async (vector) => {
    const { method, target, secret, timestamp, nonce } = vector;
    const request = {
      method,
      url: `http://localhost:8100${target}`,
      body: Buffer.from(vector.body_base64, 'base64'),
    };
    const key = { keyId: 'k', secret };
    const headers = await createSigner(key, NODE_HASHING)(request, { timestamp, nonce });
    expect(headers).toEqual(await signatureHeaders(key, request, { timestamp, nonce }));
    expect(headers['X-SVC-Signature']).toBe(vector.signature);
  });

  test('has a nonce of its own each time, and an empty secret signs none', async () => {
    const sign = createSigner({ keyId: 'k', secret: 's' }, NODE_HASHING);
    const nonces = [];
    for (let count = 0; count < 3; count += 1)
      nonces.push((await sign({ method: 'GET', url: 'http://localhost/' }))['X-SVC-Nonce']);
    expect(new Set(nonces).size).toBe(3);
    for (const nonce of nonces) expect(nonce).toMatch(/^[0-9a-f]{32}$/);
    expect(() => createSigner({ keyId: 'k', secret: '' }, NODE_HASHING)).toThrow('is empty');
  });

  test('is signed by the documented Python client as others do', () => {
    const script = [
      'import base64, json, sys',
      'import fund_api',
      'for v in json.load(sys.stdin):',
      '    body = base64.b64decode(v["body_base64"])',
      '    print(fund_api.signature(v["secret"], fund_api.canonical(v["method"], v["target"], body, v["timestamp"], v["nonce"])))',
    ].join('\n');
    const out = execFileSync('python3', ['-B', '-c', script], {
      input: JSON.stringify(VECTORS.inbound),
      env: { ...process.env, PYTHONPATH: 'docs/clients' },
      encoding: 'utf8',
    });
    expect(out.trim().split('\n')).toEqual(VECTORS.inbound.map((vector) => vector.signature));
  });
});

test.each(VECTORS.dashboard)('the client signs a write of the dashboard: $name', async (vector) => {
  const { operator, secret, method, target, timestamp, nonce, signature } = vector;
  const sign = createDashboardSigner({ operator, secret });
  const body = Buffer.from(vector.body_base64, 'base64');
  const headers = await sign(
    { method, url: `http://localhost${target}`, body },
    { timestamp, nonce },
  );
  expect(headers).toEqual({
    'X-SVC-Dashboard-Operator': operator,
    'X-SVC-Dashboard-Timestamp': timestamp,
    'X-SVC-Dashboard-Nonce': nonce,
    'X-SVC-Dashboard-Signature': signature,
  });
});

test.each(VECTORS.dashboard)('a write of the dashboard: $name', (vector) => {
  const canonical = dashboardCanonicalString({ ...partsOf(vector), operator: vector.operator });
  expect(canonical).toBe(vector.canonical);
  expect(`v3=${createHmac('sha256', vector.secret).update(canonical).digest('hex')}`).toBe(
    vector.signature,
  );
});

test.each(VECTORS.callbacks)(
  'a callback: $name',
  ({ secret, nonce, timestamp, body_base64, headers }) => {
    const body = Buffer.from(body_base64, 'base64').toString('utf8');
    expect(
      createCallbackSigner(secret)({ event_id: 'e', nonce, timestamp: Number(timestamp), body }),
    ).toMatchObject(headers);
  },
);
