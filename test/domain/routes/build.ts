/** Routes for tests, by what is particular about them. */
import type { TemplateNode } from '../../../domain/plan/types.ts';
import type { RouteHealth } from '../../../domain/routes/health.ts';
import type { Candidate, RouteRequest } from '../../../domain/routes/recommend.ts';
import { toRoute, type RouteSource, type RouteStats } from '../../../domain/routes/route.ts';

export function node(action_type: string, more: Partial<TemplateNode> = {}): TemplateNode {
  return { node_key: action_type, node_kind: 'action', action_type, has_side_effect: false, ...more };
}

export function source(more: Partial<RouteSource> = {}): RouteSource {
  return {
    template_id: '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10',
    template_key: 'a',
    version: 1,
    name: 'A route',
    graph_shape: 'linear',
    risk_controls: {},
    nodes: [node('noop')],
    edges: [],
    ...more,
  };
}

export function statsOf(total_completed: number, total_failed: number, seconds: number | null): RouteStats {
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
  readonly controls?: RouteSource['risk_controls'];
  readonly nodes?: readonly TemplateNode[];
  readonly stats?: RouteStats | null;
  readonly health?: RouteHealth['status'];
}

export function candidate({ key = 'a', version = 1, controls = {}, nodes, stats = null, health = 'healthy' }: CandidateFields): Candidate {
  const route = toRoute(source({ template_key: key, version, risk_controls: controls, ...(nodes === undefined ? {} : { nodes }) }));
  return { route, stats, health: { status: health, executors: [] } };
}

export function request(more: Partial<RouteRequest> = {}): RouteRequest {
  return { asset: 'USDC', source_venue: null, destination_venue: null, amount: '100', priority: 'speed', ...more };
}
