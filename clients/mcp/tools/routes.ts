/** `list_routes` and `recommend_route`: the routes that funds can take. */
import { z } from 'zod';
import {
  amountIn,
  assetIn,
  count,
  cut,
  firstOf,
  inText,
  maybeWord,
  nameIn,
  partIn,
  partOf,
  quote,
  untrusted,
  word,
} from '../fields.ts';
import { read } from '../read.ts';
import { defineTool, READ_ONLY } from '../tool.ts';

const ROUTE = {
  template_key: word,
  version: z.int(),
  executable: z.boolean(),
  graph_shape: word,
  node_count: count,
};
const WAY = {
  transport_family: word,
  source_venue: maybeWord,
  destination_venue: maybeWord,
  asset: maybeWord.describe("Null: the movement's asset."),
};
/** A template's limit as decimal text; null when the template has no number or text there. */
const limit = z.union([z.string(), z.number()]).transform(String).pipe(word).nullable().catch(null);
const STATS = {
  total_completed: count.nullable(),
  total_failed: count.nullable(),
  success_rate: z.number().nullable(),
  avg_duration_seconds: z.number().nullable(),
};
const NO_STATS = {
  total_completed: null,
  total_failed: null,
  success_rate: null,
  avg_duration_seconds: null,
};
const BRIDGE = { latency_baseline_seconds: z.number().nullable(), max_fee: maybeWord };

const routeAnswer = z.object({
  ...ROUTE,
  name: quote,
  metadata: z.object(WAY),
  bridge: z
    .object({ ...BRIDGE, legs: z.array(z.object({ usable: z.boolean().nullable() })) })
    .nullish(),
  stats: z.object(STATS).nullable(),
  fee_policy: z.object({
    expected_fee: limit,
    max_fee_abs: limit,
    max_fee_pct: limit,
    max_fee_usd: limit,
  }),
  risk_controls: z.object({ min_amount: limit, max_amount: limit }),
  health: z.object({ status: word }).optional(),
});
type Route = z.infer<typeof routeAnswer>;

const routeView = z.strictObject({
  ...ROUTE,
  ...WAY,
  min_amount: maybeWord,
  max_amount: maybeWord,
  expected_fee: maybeWord,
  max_fee_abs: maybeWord,
  max_fee_pct: maybeWord,
  max_fee_usd: maybeWord,
  bridge: z
    .strictObject({
      ...BRIDGE,
      legs: count,
      usable: z.boolean().nullable().describe('Null: unknown.'),
    })
    .nullable(),
  ...STATS,
  health: maybeWord.describe('Null unless include_health is true.'),
  untrusted: untrusted({ name: quote }),
});

function shown(answer: Route): z.input<typeof routeView> {
  const { name, metadata, bridge, stats, fee_policy, risk_controls, health, ...route } = answer;
  return {
    ...route,
    ...metadata,
    ...risk_controls,
    ...fee_policy,
    bridge: bridge == null ? null : bridgeOf(bridge),
    ...(stats ?? NO_STATS),
    health: health?.status ?? null,
    untrusted: { name },
  };
}

function bridgeOf({ legs, ...bridge }: NonNullable<Route['bridge']>) {
  const usable = legs.some((leg) => leg.usable === false)
    ? false
    : legs.every((leg) => leg.usable === true)
      ? true
      : null;
  return { ...bridge, legs: legs.length, usable };
}

export const listRoutes = defineTool({
  name: 'list_routes',
  title: 'List the ways that funds can take',
  description:
    'Routes of the catalogue that this agent may see, with fees, limits and how past movements ended. Filter by asset and venues; a long list comes in parts.',
  effects: READ_ONLY,
  power: 'reads',
  input: z.strictObject({
    asset: assetIn.optional(),
    source_venue: nameIn.optional(),
    destination_venue: nameIn.optional(),
    include_not_executable: z.boolean().default(false),
    include_health: z.boolean().default(false),
    ...partIn(25, 10),
  }),
  output: z.strictObject({ routes: z.array(routeView).max(25), total: count, cut }),
  run: async ({ limit, offset, ...wanted }, { api, signal }) => {
    const query = {
      status: wanted.include_not_executable ? 'all' : 'executable',
      include_health: String(wanted.include_health),
    };
    const answer = read(
      z.object({ routes: z.array(routeAnswer) }),
      await api.call('listRoutes', { query, signal }),
    );
    const asset = wanted.asset?.toUpperCase();
    const found = answer.routes.filter(
      ({ metadata }) =>
        (asset === undefined || metadata.asset === null || metadata.asset === asset) &&
        (wanted.source_venue ?? metadata.source_venue) === metadata.source_venue &&
        (wanted.destination_venue ?? metadata.destination_venue) === metadata.destination_venue,
    );
    const part = partOf(found, { offset, limit }, 'list_routes');
    return {
      data: { routes: part.rows.map(shown), total: found.length, cut: part.cut },
      text: [
        `${String(part.rows.length)} of ${String(found.length)} routes.`,
        ...part.rows.map(line),
      ].join('\n'),
    };
  },
});

const RECOMMENDATION = {
  rank: count,
  score: z.number(),
  feasibility: word,
  infeasible_reasons: firstOf(word, 8),
};

export const recommendRoute = defineTool({
  name: 'recommend_route',
  title: 'Rank the routes for an asset and an amount',
  description:
    'Ranks the routes that carry an asset, feasible ones first, by speed or by cost. It writes nothing and reserves nothing.',
  effects: READ_ONLY,
  power: 'reads',
  input: z.strictObject({
    asset: assetIn,
    source_venue: nameIn.optional(),
    destination_venue: nameIn.optional(),
    amount: amountIn.optional(),
    priority: z.enum(['speed', 'cost']).default('speed'),
    ...partIn(10, 5),
  }),
  output: z.strictObject({
    recommendations: z.array(z.strictObject({ ...RECOMMENDATION, route: routeView })).max(10),
    total: count,
    cut,
  }),
  run: async ({ limit, offset, ...body }, { api, signal }) => {
    const answer = read(
      z.object({
        recommendations: z.array(z.object({ ...RECOMMENDATION, route: routeAnswer })),
      }),
      await api.call('recommendRoutes', { body, signal }),
    );
    const part = partOf(answer.recommendations, { offset, limit }, 'recommend_route');
    const rows = part.rows.map(({ route, ...rest }) => ({ ...rest, route: shown(route) }));
    const { length: total } = answer.recommendations;
    return {
      data: { recommendations: rows, total, cut: part.cut },
      text: [
        `${String(rows.length)} of ${String(total)} routes, best first.`,
        ...rows.map(
          ({ rank, route, feasibility, infeasible_reasons: why }) =>
            `${String(rank)}. ${inText(route.template_key)} v${String(route.version)}: ${[feasibility, ...why].map(inText).join(' ')}`,
        ),
      ].join('\n'),
    };
  },
});

function line({ template_key, version, metadata }: Route): string {
  const way = `${inText(metadata.source_venue)} to ${inText(metadata.destination_venue)}`;
  return `${inText(template_key)} v${String(version)} (${way})`;
}
