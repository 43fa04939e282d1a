/**
 * What a venue showed of its withdrawals, in previews and on routes, before a node has to wait.
 * Each test has a venue of its own, which no process fetches. Balances: test/http/balances.test.ts.
 */
import { randomUUID } from 'node:crypto';
import {
  get,
  movementBody,
  must,
  post,
  registered,
  shared,
  sql,
  withdrawal,
  type TemplateView,
} from '../support/http.ts';

const OPENS = '2099-01-01T06:00:00.000Z';
const CLOSED = { asset: 'USDC', network: 'ERC20', opens_at: OPENS };
const SUSPENDED = `the exchange does not pay out USDC on ERC20 at present; it expects to do so from ${OPENS}`;
/** Longer than any age with which a balance still counts. */
const OLD_SECONDS = 90_000;

async function venueThat(shows: object, secondsAgo = 0): Promise<string> {
  const venue = `outlook-${randomUUID()}`;
  await sql(
    `SELECT store_outlook($1, svc_now() - make_interval(secs => $2::double precision), $3::jsonb)`,
    [venue, secondsAgo, JSON.stringify({ quota: null, closed: [], ...shows })],
  );
  return venue;
}

/** A plan with one withdrawal from the venue. */
const outOf = (venue: string, config: object = {}): Promise<TemplateView> =>
  registered([
    withdrawal('out', {
      config: { venue, network: 'ERC20', destination_address: shared.wallet, ...config },
    }),
  ]);

describe('a preview', () => {
  const preview = (of: TemplateView, amount = '10') =>
    must(
      200,
      post<{ readonly would_create: boolean; readonly would_wait: unknown }>(
        '/movements?dry_run=true',
        movementBody(of, { intent: { asset: 'USDC', amount } }),
      ),
    );
  const waits = async (of: TemplateView, amount?: string): Promise<unknown> =>
    (await preview(of, amount)).would_wait;

  test('says what a withdrawal over a suspended network would wait for, and blocks nothing', async () => {
    const venue = await venueThat({ closed: [CLOSED] });
    const waiting = {
      node_key: 'out',
      error_code: 'VENUE_SUSPENDED',
      message: SUSPENDED,
      opens_at: OPENS,
    };
    expect(await preview(await outOf(venue))).toMatchObject({
      would_create: true,
      would_wait: [waiting],
    });
    expect(await waits(await outOf(venue, { asset: 'usdc' }))).toEqual([waiting]);
    expect(await waits(await outOf(venue, { network: 'TRC20' }))).toEqual([]);
    expect(await waits(await outOf(await venueThat({})))).toEqual([]);
  });

  test('says that the amount is above what is left of the quota', async () => {
    const of = await outOf(await venueThat({ quota: { left: '10', unit: 'USDC' } }));
    expect(await waits(of, '10')).toEqual([]);
    expect(await waits(of, '10.000001')).toEqual([
      {
        node_key: 'out',
        error_code: 'WITHDRAWAL_QUOTA_EXHAUSTED',
        message: 'the account may withdraw 10 USDC at present',
        opens_at: null,
      },
    ]);
  });

  test('judges what the node withdraws, not what the movement is about', async () => {
    const venue = await venueThat({ quota: { left: '10', unit: 'USDC' } });
    expect(await waits(await outOf(venue, { amount: '10.5' }), '5')).toMatchObject([
      { node_key: 'out', error_code: 'WITHDRAWAL_QUOTA_EXHAUSTED' },
    ]);
    expect(await waits(await outOf(venue, { amount: '5' }), '20')).toEqual([]);
  });

  test('says nothing of a quota in another unit while something is left of it', async () => {
    const [some, none] = await Promise.all([
      outOf(await venueThat({ quota: { left: '0.5', unit: 'USD' } })),
      outOf(await venueThat({ quota: { left: '0', unit: 'USD' } })),
    ]);
    expect(await waits(some)).toEqual([]);
    expect(await waits(none)).toMatchObject([{ error_code: 'WITHDRAWAL_QUOTA_EXHAUSTED' }]);
  });

  test('does not rely on what was read too long ago', async () => {
    expect(await waits(await outOf(await venueThat({ closed: [CLOSED] }, OLD_SECONDS)))).toEqual(
      [],
    );
  });
});

describe('a route', () => {
  interface Health {
    readonly status: string;
    readonly executors: readonly { readonly health_state: string; readonly reason?: string }[];
  }
  const healthOf = async (of: TemplateView): Promise<Health | undefined> => {
    const { routes } = await must(
      200,
      get<{ routes: readonly { template_key: string; health: Health }[] }>(
        '/route-catalog?include_health=true',
      ),
    );
    return routes.find(({ template_key }) => template_key === of.template_key)?.health;
  };
  const reasonOf = async (of: TemplateView): Promise<string | undefined> =>
    (await healthOf(of))?.executors[0]?.reason;

  test('over a suspended network has its executor down, with the reason; others do not', async () => {
    const venue = await venueThat({ closed: [CLOSED] });
    expect(await healthOf(await outOf(venue, { asset: 'USDC' }))).toEqual({
      status: 'unavailable',
      executors: [
        {
          executor_key: 'paper.withdrawal',
          health_state: 'down',
          reason: `VENUE_SUSPENDED: ${SUSPENDED}`,
        },
      ],
    });
    for (const config of [{ asset: 'USDT' }, { asset: 'USDC', network: 'TRC20' }])
      expect(await reasonOf(await outOf(venue, config))).toBeUndefined();
  });

  test('out of an account whose quota is used up has it down, too', async () => {
    const venue = await venueThat({ quota: { left: '0', unit: 'USD' } });
    expect(await reasonOf(await outOf(venue, { asset: 'USDC' }))).toBe(
      'WITHDRAWAL_QUOTA_EXHAUSTED: the account may withdraw 0 USD at present',
    );
  });

  test('does not rely on what was read too long ago', async () => {
    const venue = await venueThat({ closed: [CLOSED] }, OLD_SECONDS);
    expect(await reasonOf(await outOf(venue, { asset: 'USDC' }))).toBeUndefined();
  });

  test('that leaves its asset to the movement is judged by the requested one', async () => {
    const venue = await venueThat({ closed: [CLOSED] });
    const of = await outOf(venue);
    expect(await reasonOf(of)).toBeUndefined();
    const reasons = async (asset: string): Promise<unknown> => {
      const body = { asset, source_venue: venue };
      const { recommendations } = await must(
        200,
        post<{ recommendations: readonly { infeasible_reasons: unknown }[] }>(
          '/routes/recommend',
          body,
        ),
      );
      expect(recommendations).toHaveLength(1);
      return recommendations[0]?.infeasible_reasons;
    };
    expect(await reasons('usdc')).toEqual(['executor_unavailable']);
    expect(await reasons('USDT')).toEqual([]);
  });
});
