/**
 * A remote signer that signs anything but the request: the service stores and sends nothing of it,
 * and once the signer is honest, it pays the same movements, each once.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPublicClient, http, type Address } from 'viem';
import { eventually, startOwnStack, type OwnStack } from '../support/own-stack.ts';
import { fund, nativePayment } from '../support/paying-signer.ts';
import { storeTemplate } from '../support/plans.ts';
import {
  PROXY_TOKEN,
  startSignerProxy,
  type Misbehaviour,
  type SignerProxy,
} from '../support/signer-proxy.ts';

const KEY = `0x${'3'.repeat(64)}`;
const MISBEHAVIOURS: readonly Misbehaviour[] = [
  'another nonce',
  'another payee',
  'another amount',
  'another key',
  'another encoding',
  'no bytes',
  'hangs',
  'hangs in the middle',
  'answers 401',
  'answers 500',
  'answers HTML',
  'answers nothing',
  'redirects',
  'too large',
];

const folder = mkdtempSync(join(tmpdir(), 'remote-signer-'));
let proxy: SignerProxy;
let own: OwnStack;
let template: string;
const address = (): Address => proxy.address as Address;

beforeAll(async () => {
  proxy = await startSignerProxy(KEY);
  const auth_token_file = join(folder, 'token');
  writeFileSync(auth_token_file, PROXY_TOKEN, { mode: 0o600 });
  own = await startOwnStack({
    signers: [
      {
        signer_key: 'far-treasury',
        chain_family: 'evm',
        profile: 'far',
        backend: 'remote',
        url: proxy.url,
        auth_token_file,
        timeout_seconds: 1,
      },
    ],
    env: { SVC_REGISTRY_HEALTH_INTERVAL_SECONDS: '1' },
  });
  await fund(own.stack.chain, address());
  const retry_policy = { max_attempts: 50, initial_interval_seconds: 0.2, max_interval_seconds: 1 };
  template = await storeTemplate(own.api, [
    nativePayment(own.stack.chain, 'far', { retry_policy }),
  ]);
}, 180_000);
afterAll(async () => {
  await own?.close();
  await proxy?.close();
  rmSync(folder, { recursive: true, force: true });
});

const start = async (): Promise<string> => {
  const movement = await own.api.create(template, { amount: '0.01', intent: { asset: 'ETH' } });
  await own.api.approve(movement);
  return movement.movement_id;
};
const claims = (movementId: string) =>
  own.query<{ raw_tx: string | null; tx_hash: string | null }>(
    'SELECT raw_tx, tx_hash FROM evm_transactions WHERE movement_id = $1',
    [movementId],
  );
const sent = (): Promise<number> =>
  createPublicClient({ transport: http(own.stack.chain.rpcUrl), cacheTime: 0 }).getTransactionCount(
    { address: address() },
  );
/** As if the time to send were over, by the database's clock: a recovery may conclude. */
const sendsAreOver = () =>
  own.query(
    "UPDATE movement_nodes SET send_not_after = svc_now() - interval '1 hour' WHERE state = 'SUBMITTING' AND send_not_after IS NOT NULL",
  );

test('whatever it does when it is to sign, nothing is stored or sent; honest again it pays once', async () => {
  const ids = new Map<string, Misbehaviour>();
  const signs = (): number => proxy.seen.filter(({ path }) => path === '/sign').length;
  for (const misbehaviour of MISBEHAVIOURS) {
    proxy.misbehaves = misbehaviour;
    const before = signs();
    ids.set(await start(), misbehaviour);
    await eventually(async () => (signs() > before ? true : null));
  }
  for (const [id, misbehaviour] of ids) {
    // The answer has been judged once a recovery asks what became of the send.
    await eventually(async () => ((await epochOf(id)) > 1 ? true : null));
    expect([misbehaviour, await claims(id)]).toEqual([
      misbehaviour,
      [{ raw_tx: null, tx_hash: null }],
    ]);
  }
  expect(await sent()).toBe(0);
  proxy.misbehaves = null;
  await sendsAreOver();
  for (const id of ids.keys()) {
    await own.api.reaches(id, 'COMPLETED', 120_000);
    expect(await claims(id)).toHaveLength(1);
  }
  expect(await sent()).toBe(MISBEHAVIOURS.length);
}, 300_000);

const epochOf = async (movementId: string): Promise<number> =>
  Number(
    (
      await own.query('SELECT submit_epoch FROM movement_nodes WHERE movement_id = $1', [
        movementId,
      ])
    )[0]?.['submit_epoch'],
  );

test('that does not tell its address holds a node up before its fence, and other signers are looked at', async () => {
  proxy.misbehaves = 'hangs';
  proxy.always = true;
  const id = await start();
  const signers = async () =>
    (await own.api.expect(200, 'GET', '/signers')) as unknown as readonly {
      readonly signer_key: string;
      readonly observed_signer_address: string | null;
    }[];
  await eventually(async () =>
    (await signers()).some(
      (each) => each.signer_key === 'far-treasury' && each.observed_signer_address === null,
    )
      ? true
      : null,
  );
  expect(await signers()).toContainEqual(
    expect.objectContaining({
      signer_key: 'dev-treasury',
      observed_signer_address: own.stack.chain.accounts.signer.address,
    }),
  );
  expect(await claims(id)).toEqual([]);
  proxy.misbehaves = null;
  await own.api.reaches(id, 'COMPLETED');
}, 120_000);
