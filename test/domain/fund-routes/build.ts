/** Routes for tests, by what is particular about them. */
import type { TemplateNode } from '../../../domain/plan/types.ts';
import type { RouteBridge } from '../../../domain/fund-routes/bridges.ts';
import type { FundRouteHealth } from '../../../domain/fund-routes/health.ts';
import type { Candidate, FundRouteRequest } from '../../../domain/fund-routes/recommend.ts';
import { nonExecutableReasons } from '../../../domain/executable.ts';
import {
  toFundRoute,
  type FundRouteSource,
  type FundRouteStats,
} from '../../../domain/fund-routes/fund-route.ts';

export function node(action_type: string, more: Partial<TemplateNode> = {}): TemplateNode {
  return {
    node_key: action_type,
    node_kind: 'action',
    action_type,
    has_side_effect: false,
    ...more,
  };
}

export function source(more: Partial<FundRouteSource> = {}): FundRouteSource {
  return {
    template_id: '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10',
    template_key: 'a',
    version: 1,
    name: 'A route',
    graph_shape: 'linear',
    risk_controls: {},
    nodes: [node('cex_internal_transfer')],
    edges: [],
    ...more,
  };
}

export function statsOf(
  total_completed: number,
  total_failed: number,
  seconds: number | null,
): FundRouteStats {
  return {
    total_completed,
    total_failed,
    success_rate: total_completed / (total_completed + total_failed),
    avg_duration_seconds: seconds,
    max_duration_seconds: seconds,
  };
}

export interface CandidateFields {
  readonly key?: string;
  readonly version?: number;
  readonly controls?: FundRouteSource['risk_controls'];
  readonly nodes?: readonly TemplateNode[];
  readonly stats?: FundRouteStats | null;
  readonly health?: FundRouteHealth['status'];
  readonly can_work?: boolean;
  readonly bridge?: RouteBridge | null;
}

export function candidate(fields: CandidateFields): Candidate {
  const {
    key = 'a',
    version = 1,
    controls = {},
    nodes,
    stats = null,
    health = 'healthy',
    can_work = true,
    bridge = null,
  } = fields;
  const from = source({
    template_key: key,
    version,
    risk_controls: controls,
    ...(nodes === undefined ? {} : { nodes }),
  });
  const route = toFundRoute(from, nonExecutableReasons(from).length === 0);
  return { route, stats, health: { status: health, executors: [] }, can_work, bridge };
}

export function request(more: Partial<FundRouteRequest> = {}): FundRouteRequest {
  return {
    asset: 'USDC',
    source_venue: null,
    destination_venue: null,
    amount: '100',
    priority: 'speed',
    ...more,
  };
}
