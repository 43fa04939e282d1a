/** Routes of the perps venue in the catalog and in recommendations, as the venue is now. */
import { routes } from '../../venues/routes.ts';
import { PERP_BRIDGE } from '../../dev/simulators/perp/settings.ts';
import { TOKEN, someone } from '../dev/perp-stack.ts';
import { at, startPerpDesk } from '../support/perp-desk.ts';
import { started } from '../support/started.ts';

interface Item {
  readonly executor_key: string;
  readonly health_state: string;
  readonly reason?: string;
}
interface RouteView {
  readonly template_key: string;
  readonly metadata: object;
  readonly executable: boolean;
  readonly health?: { readonly status: string; readonly executors: readonly Item[] };
}
interface Recommended {
  readonly feasibility: string;
  readonly infeasible_reasons: readonly string[];
  readonly route: RouteView;
}
const desk = started(() => startPerpDesk('perp-master'));
beforeAll(async () => {
  const chain_id = desk.chainId;
  const paid = someone('is paid').address;
  await template('in', 'perp_deposit', {
    ...{ chain_id, token_address: TOKEN, destination_address: PERP_BRIDGE.address },
  });
  await template('out', 'perp_withdraw', { chain_id, destination_address: paid });
});
afterEach(() => desk.clear());

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const answer = await desk.call(method, path, body, { routes });
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body as unknown as T;
}
const template = (template_key: string, action_type: string, config: object): Promise<object> =>
  call('POST', '/plan-templates', {
    ...{ template_key, version: 1, name: 'At the perps venue', edges: [] },
    ...{ approval_policy: {}, risk_controls: { min_amount: '5' } },
    completion_policy: { completion_assurance: 'provider_completed' },
    nodes: [
      {
        ...{ node_key: 'move', node_kind: 'action', action_type, has_side_effect: true },
        executor_selector: { action_type, provider: 'perp' },
        signer_selector: { chain_family: 'evm' },
        config: { venue: 'perp', asset: 'USDC', ...config },
      },
    ],
  });
const nameMaster = (): Promise<object> =>
  call('POST', '/perp-venue/master-account', {
    master_address: desk.master.account.address,
    ...{ signer_key: 'perp-master', network: 'testnet' },
  });

/** Both routes as the catalog shows them, and the keys of those that are feasible. */
async function seen(request: object = {}) {
  const { routes: listed } = await call<{ routes: RouteView[] }>(
    ...(['GET', '/route-catalog?include_health=true'] as const),
  );
  const { recommendations } = await call<{ recommendations: Recommended[] }>(
    ...(['POST', '/routes/recommend', { asset: 'USDC', amount: '50', ...request }] as const),
  );
  // The desk's bench has one of its own.
  const own = recommendations.filter(({ route }) => ['in', 'out'].includes(route.template_key));
  const of = (key: string) => listed.find(({ template_key }) => template_key === key);
  const keys = (feasibility: string) =>
    own
      .filter((each) => each.feasibility === feasibility)
      .map(({ route }) => route.template_key)
      .sort();
  const reasons = new Set(own.flatMap((each) => each.infeasible_reasons));
  return {
    ...{ into: of('in'), out: of('out'), reasons: [...reasons] },
    ...{ feasible: keys('feasible'), infeasible: keys('infeasible') },
  };
}
const up = (executor_key: string) => ({
  ...{ status: 'healthy', executors: [{ executor_key, health_state: 'up' }] },
});
const down = (executor_key: string) => ({
  ...{ status: 'unavailable', executors: [{ executor_key, health_state: 'down' }] },
});

test('they lead into the venue and out of it, whichever way the config names it', async () => {
  await nameMaster();
  await desk.refreshHealth();
  const { into, out } = await seen();
  const family = { transport_family: 'perp', asset: 'USDC' };
  expect(into).toMatchObject({
    ...{ executable: true, health: up('perp.deposit') },
    metadata: { ...family, source_venue: null, destination_venue: 'perp' },
  });
  expect(out).toMatchObject({
    ...{ executable: true, health: up('perp.withdraw') },
    metadata: { ...family, source_venue: 'perp', destination_venue: null },
  });
  expect((await seen()).feasible).toEqual(['in', 'out']);
  expect((await seen({ source_venue: 'perp' })).feasible).toEqual(['out']);
  expect((await seen({ destination_venue: 'perp' })).feasible).toEqual(['in']);
  expect(await seen({ amount: '4.99' })).toMatchObject({
    ...{ infeasible: ['in', 'out'], reasons: ['amount_below_min'] },
  });
});

test('none is recommended before there is an account that pays', async () => {
  await desk.refreshHealth();
  const { out, infeasible, reasons } = await seen();
  expect(out?.health).toEqual({
    status: 'unavailable',
    executors: [
      {
        ...{ executor_key: 'perp.withdraw', health_state: 'down' },
        reason: 'MASTER_ACCOUNT_MISSING: the perps venue has no master account yet',
      },
    ],
  });
  expect([infeasible, reasons]).toEqual([['in', 'out'], ['executor_unavailable']]);
});

test('they are down with the venue, with its rail, and switched off', async () => {
  await nameMaster();
  const during = async (faults: object) => {
    await desk.perp.faults(faults);
    await desk.refreshHealth();
    return seen();
  };
  for (const faults of [{ refuse_rate: 1 }, { garbage_rate: 1 }, { usdc_route: 'cctp' }])
    expect(await during(faults)).toMatchObject({
      ...{ into: { health: down('perp.deposit') }, out: { health: down('perp.withdraw') } },
      ...{ feasible: [], reasons: ['executor_unavailable'] },
    });
  // It only asks to be left alone.
  expect(await during({ rate_limited: true })).toMatchObject({
    ...{ out: { health: { status: 'degraded' } }, feasible: ['in', 'out'] },
  });
  await during({});
  await call('PATCH', '/executors/perp.withdraw', { status: 'disabled' });
  expect(await seen()).toMatchObject({
    ...{ out: { health: down('perp.withdraw') }, feasible: ['in'], infeasible: ['out'] },
  });
  await call('PATCH', '/executors/perp.withdraw', { status: 'active' });
});

test('a pause is a strategy’s and no route’s; top-ups are made by their own route alone', async () => {
  await nameMaster();
  await desk.refreshHealth();
  await call('POST', '/perp-venue/strategy-bindings', { strategy_id: 'basis' });
  await call('POST', at('basis', '/pause'), { paused: true, reason: 'tried' });
  expect((await seen()).feasible).toEqual(['in', 'out']);
  await template('up', 'agent_wallet_top_up', { sub_account_address: someone('a sub').address });
  const { routes: listed } = await call<{ routes: RouteView[] }>('GET', '/route-catalog');
  expect(listed.find(({ template_key }) => template_key === 'up')).toMatchObject({
    metadata: { transport_family: 'perp', source_venue: 'perp', destination_venue: null },
  });
  const { recommendations } = await call<{ recommendations: Recommended[] }>(
    ...(['POST', '/routes/recommend', { asset: 'USDC' }] as const),
  );
  expect(recommendations.map(({ route }) => route.template_key)).not.toContain('up');
});
