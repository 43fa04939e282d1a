/** `list_routes` and `recommend_route`: ways that funds can take. */
import { z } from 'zod';
import {
  amountIn,
  assetIn,
  count,
  cut,
  inText,
  maybeWord,
  named,
  nameIn,
  partIn,
  partOf,
  quote,
  quoted,
  untrusted,
  word,
} from '../fields.ts';
import { read, route as routeAnswer, type Route } from '../read.ts';
import { defineTool, READ_ONLY } from '../tool.ts';

const FEES = ['expected_fee', 'max_fee_abs', 'max_fee_pct', 'max_fee_usd'] as const;

const routeView = z.strictObject({
  template_key: word,
  version: z.int(),
  executable: z.boolean(),
  graph_shape: word,
  node_count: count,
  transport_family: word,
  source_venue: maybeWord,
  destination_venue: maybeWord,
  asset: maybeWord.describe("Null: the movement's asset."),
  min_amount: maybeWord,
  max_amount: maybeWord,
  expected_fee: maybeWord,
  max_fee_abs: maybeWord,
  max_fee_pct: maybeWord,
  max_fee_usd: maybeWord,
  bridge: z
    .strictObject({
      latency_baseline_seconds: z.number().nullable(),
      max_fee: maybeWord,
      legs: count,
      usable: z.boolean().nullable().describe('Null: nobody can say.'),
    })
    .nullable(),
  total_completed: count.nullable(),
  total_failed: count.nullable(),
  success_rate: z.number().nullable(),
  avg_duration_seconds: z.number().nullable(),
  health: maybeWord.describe('Null unless it was asked for.'),
  untrusted: untrusted({ name: quote }),
});

function shown(route: Route): z.input<typeof routeView> {
  const { metadata, bridge, stats, risk_controls, fee_policy } = route;
  return {
    template_key: named(route.template_key) ?? '',
    version: route.version,
    executable: route.executable,
    graph_shape: named(route.graph_shape) ?? '',
    node_count: route.node_count,
    transport_family: named(metadata.transport_family) ?? '',
    source_venue: named(metadata.source_venue),
    destination_venue: named(metadata.destination_venue),
    asset: named(metadata.asset),
    min_amount: control(risk_controls['min_amount']),
    max_amount: control(risk_controls['max_amount']),
    ...(Object.fromEntries(FEES.map((fee) => [fee, control(fee_policy[fee])])) as Record<
      (typeof FEES)[number],
      string | null
    >),
    bridge: bridge == null ? null : bridgeOf(bridge),
    total_completed: stats?.total_completed ?? null,
    total_failed: stats?.total_failed ?? null,
    success_rate: stats?.success_rate ?? null,
    avg_duration_seconds: stats?.avg_duration_seconds ?? null,
    health: named(route.health?.status),
    untrusted: { name: quoted(route.name) },
  };
}

function bridgeOf({ latency_baseline_seconds, max_fee, legs }: NonNullable<Route['bridge']>) {
  const usable = legs.some((leg) => leg.usable === false)
    ? false
    : legs.every((leg) => leg.usable === true)
      ? true
      : null;
  return { latency_baseline_seconds, max_fee: named(max_fee), legs: legs.length, usable };
}

/** A limit as a template has it: a decimal, or nothing that a reader can count with. */
function control(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' ? named(String(value)) : null;
}

export const listRoutes = defineTool({
  name: 'list_routes',
  title: 'List the ways that funds can take',
  description:
    'Routes of the catalogue that this agent may see, with fees, limits and how past movements ended. Filter by asset and venues; a long list comes in parts.',
  effects: READ_ONLY,
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

const recommendation = z.object({
  rank: z.int(),
  score: z.number(),
  feasibility: z.string(),
  infeasible_reasons: z.array(z.string()),
  route: routeAnswer,
});

export const recommendRoute = defineTool({
  name: 'recommend_route',
  title: 'Rank the routes for an asset and an amount',
  description:
    'Ranks the routes that carry an asset, feasible ones first, by speed or by cost. It writes nothing and reserves nothing.',
  effects: READ_ONLY,
  input: z.strictObject({
    asset: assetIn,
    source_venue: nameIn.optional(),
    destination_venue: nameIn.optional(),
    amount: amountIn.optional(),
    priority: z.enum(['speed', 'cost']).default('speed'),
    ...partIn(10, 5),
  }),
  output: z.strictObject({
    recommendations: z
      .array(
        z.strictObject({
          rank: count,
          score: z.number(),
          feasibility: word,
          infeasible_reasons: z.array(word).max(8),
          route: routeView,
        }),
      )
      .max(10),
    total: count,
    cut,
  }),
  run: async ({ limit, offset, ...body }, { api, signal }) => {
    const answer = read(
      z.object({ recommendations: z.array(recommendation) }),
      await api.call('recommendRoutes', { body, signal }),
    );
    const part = partOf(answer.recommendations, { offset, limit }, 'recommend_route');
    const rows = part.rows.map(({ route, infeasible_reasons, feasibility, ...rest }) => ({
      ...rest,
      feasibility: named(feasibility) ?? '',
      infeasible_reasons: infeasible_reasons.slice(0, 8).map((each) => named(each) ?? ''),
      route: shown(route),
    }));
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
