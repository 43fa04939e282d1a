/** The wire contract of the fund route catalog. */
import { z } from 'zod';
import { GRAPH_SHAPES } from '../../domain/graph/types.ts';
import { BRIDGE_LANES, TRANSPORT_FAMILIES } from '../../domain/actions/spec.ts';
import { BURN_FINALITIES } from '../../domain/fund-routes/bridge-legs.ts';
import { LATENCY_SOURCES } from '../../domain/fund-routes/bridges.ts';
import { EXECUTOR_STATES, HEALTH_STATUSES } from '../../domain/fund-routes/health.ts';
import { INFEASIBLE_REASONS } from '../../domain/fund-routes/recommend.ts';
import { PRIORITIES, SPEED_BASES } from '../../domain/fund-routes/score.ts';
import {
  assetCode,
  booleanInQuery,
  decimalString,
  jsonObject,
  listOf,
  oneOf,
  positiveDecimal,
  text,
  timestamp,
} from '../http/schemas.ts';

export const ROUTE_STATUSES = ['executable', 'non_executable', 'all'] as const;

export const catalogQuery = z.strictObject({
  include_health: booleanInQuery
    .default(false)
    .meta({ description: 'Adds `health` to every route.' }),
  status: z.enum(ROUTE_STATUSES).default('all'),
});

const stats = z
  .object({
    total_completed: z.int(),
    total_failed: z.int(),
    success_rate: z.number().meta({ description: 'total_completed over both.', example: 0.98 }),
    avg_duration_seconds: z.number().nullable().meta({
      description: 'Of completed movements, from approval to end; null while there is none.',
    }),
    max_duration_seconds: z.number().nullable(),
  })
  .meta({
    id: 'RouteStats',
    description: 'Movements that ended in this or the previous calendar month (UTC).',
  });

const health = z
  .object({
    status: oneOf(HEALTH_STATUSES),
    executors: listOf(
      z.object({
        executor_key: z
          .string()
          .meta({ description: 'Where none or several match: what the node selects by.' }),
        health_state: oneOf(EXECUTOR_STATES),
        reason: z
          .string()
          .exactOptional()
          .meta({ description: 'Why it cannot work on this route, where it could on others.' }),
      }),
    ),
  })
  .meta({ id: 'RouteHealth' });

const bridgeLeg = z
  .object({
    node_key: z.string().meta({ description: 'The node that burns or sends.' }),
    lane: oneOf(BRIDGE_LANES),
    source_chain_id: z.int().nullable().meta({ description: 'Null: left to the caller.' }),
    destination_chain_id: z.int().nullable(),
    asset: z.string().nullable().meta({
      description: "The node's, else the requested one; null: the movement's.",
    }),
    finality: oneOf(BURN_FINALITIES).nullable(),
    latency_baseline_seconds: z.int().nullable(),
    latency_source: oneOf(LATENCY_SOURCES).nullable(),
    max_fee: decimalString
      .nullable()
      .meta({ description: 'The most that a burn may cost, in units of the asset.' }),
    fee_native_budget: decimalString.nullable().meta({
      description: 'The most that a send over the path may cost, in `fee_native_asset`.',
    }),
    fee_native_asset: z.string().nullable().meta({ description: 'The coin of the source chain.' }),
    usable: z.boolean().nullable().meta({ description: 'Null: unknown.' }),
    problem: z
      .object({
        error_code: z.string().meta({ example: 'BRIDGE_PATH_NOT_READY' }),
        reason: z.string(),
      })
      .nullable()
      .meta({ description: 'What the node would fail with now.' }),
  })
  .meta({ id: 'RouteBridgeLeg' });

const bridge = z
  .object({
    latency_baseline_seconds: z.int().nullable().meta({
      description: 'Of the longest way over its bridges; null where one of them is not known.',
    }),
    max_fee: decimalString.nullable().meta({
      description: 'What its bridges may take of the amount; null where one of them is not known.',
    }),
    legs: listOf(bridgeLeg),
  })
  .meta({ id: 'RouteBridge' });

export const routeView = z
  .object({
    template_key: z.string(),
    name: z.string(),
    version: z.int(),
    graph_shape: oneOf(GRAPH_SHAPES),
    node_count: z.int(),
    executable: z.boolean(),
    metadata: z.object({
      transport_family: oneOf(TRANSPORT_FAMILIES),
      source_venue: z.string().nullable(),
      destination_venue: z.string().nullable(),
      asset: z
        .string()
        .nullable()
        .meta({ description: "Null: the route carries the movement's asset." }),
    }),
    bridge: bridge.nullable().meta({ description: 'Null for a route without bridges.' }),
    stats: stats.nullable().meta({ description: 'Null when no movement ended in that time.' }),
    fee_policy: jsonObject.meta({
      description:
        'expected_fee, max_fee_abs, max_fee_pct and max_fee_usd of risk_controls, where present.',
    }),
    risk_controls: jsonObject.meta({ description: 'max_amount and min_amount, where present.' }),
    health: health.exactOptional().meta({ description: 'Only with `include_health=true`.' }),
  })
  .meta({ id: 'RouteView' });
export type RouteView = z.input<typeof routeView>;

export const catalogResponse = z
  .object({ routes: listOf(routeView), generated_at: timestamp })
  .meta({ id: 'RouteCatalog' });

const venue = text(1, 128).nullable().default(null);

export const recommendBody = z
  .strictObject({
    asset: assetCode.meta({ description: 'Compared in upper case.', example: 'USDC' }),
    source_venue: venue.meta({ description: 'Only routes that begin there.' }),
    destination_venue: venue.meta({ description: 'Only routes that end there.' }),
    amount: positiveDecimal
      .nullable()
      .default(null)
      .meta({ description: 'Null skips the checks of limits.' }),
    priority: z.enum(PRIORITIES).default('speed'),
  })
  .meta({
    id: 'RouteRecommendationRequest',
    examples: [
      {
        asset: 'USDC',
        source_venue: 'paper-main',
        destination_venue: null,
        amount: '1250.5',
        priority: 'cost',
      },
    ],
  });

const part = { weight: z.number(), value: z.number().meta({ description: '0 to 1' }) };
const scoreParts = z
  .object({
    speed: z.object({
      ...part,
      avg_duration_seconds: z.number().nullable(),
      latency_baseline_seconds: z.int().nullable().meta({
        description: 'Of the bridges; it stands in for the duration until a movement completed.',
      }),
      basis: oneOf(SPEED_BASES).nullable(),
    }),
    cost: z.object({
      ...part,
      fee: decimalString.nullable(),
      basis: z.string().nullable().meta({ example: 'expected_fee' }),
    }),
    health: z.object({ ...part, status: oneOf(HEALTH_STATUSES) }),
    reliability: z.object({ value: z.number(), total_completed: z.int(), total_failed: z.int() }),
  })
  .meta({
    id: 'RouteScoreParts',
    description: 'score = reliability.value * (sum of weight * value of speed, cost and health)',
  });

const recommendation = z
  .object({
    rank: z.int().meta({ description: 'From 1; feasible routes first.' }),
    score: z.number().meta({ description: '0 to 1; 0 for an infeasible route.' }),
    score_parts: scoreParts,
    feasibility: z.enum(['feasible', 'infeasible']),
    infeasible_reasons: listOf(oneOf(INFEASIBLE_REASONS)),
    route: routeView,
  })
  .meta({ id: 'RouteRecommendation' });

export const recommendResponse = z
  .object({
    recommendations: listOf(recommendation),
    request: recommendBody,
    generated_at: timestamp,
  })
  .meta({ id: 'RouteRecommendations' });
