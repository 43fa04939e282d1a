/**
 * Routes whose nodes are signed, over a database of its own: what is known of the signers decides
 * whether a route can be taken.
 */
import { createApi } from '../../api/app.ts';
import type { ExecutorDescriptor } from '../../domain/executor.ts';
import type { SignerDescriptor } from '../../domain/signer.ts';
import { routes } from '../../venues/routes.ts';
import { storeBench } from '../store/support.ts';
import { dependencies, guardOf, post, send, serve } from './support.ts';

const ASSET = 'SIGNED';
const closing: (() => Promise<unknown>)[] = [];

const bench = storeBench();
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await bench.sql('DELETE FROM signers');
});

const executor = (executor_key: string, action_type: string): ExecutorDescriptor => ({
  ...{ executor_key, kind: 'local', action_types: [action_type], same_key_safe: false },
  ...{ settle_seconds: 0, timeout_seconds: 1, in_process: false, sends: true, not_payees: [] },
  completion_assurances: ['provider_completed'],
});
const EXECUTORS = [
  executor('evm.transfer', 'evm_erc20_transfer'),
  executor('builtin.noop', 'noop'),
];
const signer = (signer_key: string, profile = signer_key): SignerDescriptor => ({
  ...{ signer_key, backend: 'local', chain_family: 'evm', profile },
});
const DESK = signer('desk');

interface StoredFields {
  readonly status?: string;
  readonly expected?: string;
  readonly observed?: string;
  readonly replaced_by?: string;
}
const store = (signer_key: string, of: StoredFields = {}): Promise<unknown> =>
  bench.sql(
    `INSERT INTO signers (signer_key, status, backend, chain_family, profile, replaced_by,
       expected_signer_address, observed_signer_address, created_at, updated_at)
     VALUES ($1, $2, 'local', 'evm', $1, $3, $4, $5, svc_now(), svc_now())`,
    signer_key,
    of.status ?? 'active',
    of.replaced_by ?? null,
    of.expected ?? null,
    of.observed ?? null,
  );

/** The API of a process with these signers; answers the URL of its routes. */
async function api(signers: readonly SignerDescriptor[]): Promise<string> {
  const deps = {
    ...dependencies(),
    ...{ db: bench.db, executors: { list: () => EXECUTORS } },
    signers: { list: () => signers, get: () => undefined },
  };
  const caller = { client_id: null, key_id: null, role: 'admin' } as const;
  const served = await serve(createApi(deps, routes, { guard: guardOf(caller) }));
  closing.push(() => served.close());
  return `${served.url}/v3`;
}

const wanted = { signer_selector: { chain_family: 'evm', profile: 'desk' } };
const payment = (more: object) => ({
  ...{ node_key: 'pay', node_kind: 'action', action_type: 'evm_erc20_transfer' },
  ...{ has_side_effect: true, ...more },
  config: {
    ...{ asset: ASSET, chain_id: 1, token_address: `0x${'6'.repeat(40)}` },
    destination_address: `0x${'7'.repeat(40)}`,
  },
});
let made = 0;
async function template(nodes: readonly object[], edges: readonly object[] = []): Promise<string> {
  made += 1;
  const template_key = `signed/${String(made)}`;
  const { status, body } = await post(`${await api([])}/plan-templates`, {
    ...{ template_key, version: 1, name: 'Signed', nodes, edges },
    ...{ approval_policy: {}, risk_controls: {} },
    completion_policy: { completion_assurance: 'provider_completed' },
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return template_key;
}

interface Seen {
  readonly feasibility: string;
  readonly infeasible_reasons: readonly string[];
  readonly route: { readonly template_key: string };
}
interface Listed {
  readonly template_key: string;
  readonly health: { readonly executors: readonly object[] };
}

/** What is recommended of the route, and its executors in the catalog. */
async function seen(key: string, signers: readonly SignerDescriptor[] = [DESK]) {
  const url = await api(signers);
  const ranked = await post(`${url}/routes/recommend`, { asset: ASSET, amount: '1' });
  const listed = await send(`${url}/route-catalog?include_health=true`);
  expect([ranked.status, listed.status]).toEqual([200, 200]);
  const found = (ranked.body['recommendations'] as readonly Seen[]).find(
    ({ route }) => route.template_key === key,
  );
  const shown = (listed.body['routes'] as readonly Listed[]).find(
    ({ template_key }) => template_key === key,
  );
  return {
    feasibility: found?.feasibility,
    reasons: found?.infeasible_reasons,
    executors: shown?.health.executors,
  };
}
const FEASIBLE = {
  ...{ feasibility: 'feasible', reasons: [] },
  executors: [{ executor_key: 'evm.transfer', health_state: 'unknown' }],
};
const without = (reason: string) => ({
  ...{ feasibility: 'infeasible', reasons: ['executor_unavailable'] },
  executors: [{ executor_key: 'evm.transfer', health_state: 'down', reason }],
});
const address = (digit: number): string => `0x${String(digit).repeat(40)}`;

test.each<[string, StoredFields, string]>([
  ['is switched off', { status: 'disabled' }, 'SIGNER_DISABLED: signer desk is disabled'],
  ['is retired', { status: 'retired' }, 'SIGNER_DISABLED: signer desk is retired'],
  [
    'reports another address than its pin',
    { expected: address(1), observed: address(2) },
    'SIGNER_IDENTITY_MISMATCH: the address of signer desk is not its pinned address',
  ],
])('a route whose signer %s is infeasible, and says why', async (_what, of, reason) => {
  const key = await template([payment(wanted)]);
  expect(await seen(key)).toEqual(FEASIBLE);
  await store('desk', { expected: address(1), observed: address(1) });
  expect(await seen(key)).toEqual(FEASIBLE);
  await bench.sql('DELETE FROM signers');
  await store('desk', of);
  expect(await seen(key)).toEqual(without(reason));
});

test('a route whose signer is missing, or one of several, is infeasible', async () => {
  const key = await template([payment(wanted)]);
  expect(await seen(key, [signer('other')])).toEqual(
    without('binding_unresolved: no signer matches chain_family=evm,profile=desk'),
  );
  expect(await seen(key, [DESK, signer('twin', 'desk')])).toEqual(
    without('binding_unresolved: several signers match chain_family=evm,profile=desk'),
  );
});

test('a rotation leads a route to the new signer', async () => {
  const key = await template([payment(wanted)]);
  const both = [DESK, signer('next')];
  await store('next');
  await store('desk', { status: 'deprecated', replaced_by: 'next' });
  expect(await seen(key, both)).toEqual(FEASIBLE);
  await bench.sql(`UPDATE signers SET status = 'disabled' WHERE signer_key = 'next'`);
  expect(await seen(key, both)).toEqual(without('SIGNER_DISABLED: signer next is disabled'));
});

test('a signer of a noop counts too, since the create binds it', async () => {
  const noop = { node_key: 'a', node_kind: 'action', action_type: 'noop' };
  const other = { signer_selector: { chain_family: 'evm', profile: 'other' } };
  const key = await template(
    [{ ...noop, ...other }, payment(wanted)],
    [{ from: 'a', to: 'pay', edge_type: 'on_success' }],
  );
  expect(await seen(key, [DESK, signer('other')])).toMatchObject({ feasibility: 'feasible' });
  expect(await seen(key)).toMatchObject({
    ...{ feasibility: 'infeasible', reasons: ['executor_unavailable'] },
    executors: [
      { executor_key: 'builtin.noop', health_state: 'down' },
      { executor_key: 'evm.transfer', health_state: 'unknown' },
    ],
  });
});
