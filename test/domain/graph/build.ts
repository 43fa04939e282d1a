/** Short forms for graphs and for walking them to their end. */
import type { EdgeType, NodeKind } from '../../../domain/graph/types.ts';
import type { WalkEdge, WalkInput, WalkNode } from '../../../domain/graph/walk-types.ts';
import { walk } from '../../../domain/graph/walk.ts';
import type { MovementState } from '../../../domain/states/movement.ts';

/** `a>b` is on_success; `a>b:on_failure` names the type. */
export function edge(text: string, more: Partial<WalkEdge> = {}): WalkEdge {
  const [ends = '', type = 'on_success'] = text.split(':');
  const [from = '', to = ''] = ends.split('>');
  return { from, to, edge_type: type as EdgeType, priority: 0, join_key: null, condition_expr: null, condition: null, ...more };
}

/** `a` is an action; `a:manual_gate` names the kind. */
export function node(text: string, more: Partial<WalkNode> = {}): WalkNode {
  const [node_key = '', kind = 'action'] = text.split(':');
  return {
    node_key,
    node_kind: kind as NodeKind,
    state: 'BLOCKED',
    resumed: false,
    timed_out: false,
    error_code: null,
    settled_order: 0,
    ...more,
  };
}

/** What a node comes to when it runs. */
export type Outcome = 'COMPLETED' | 'FAILED' | 'TIMED_OUT' | 'UNKNOWN';

/** A movement in memory: applies what the walk says, as the workflow does. */
export class Run {
  nodes: WalkNode[];
  state: MovementState;
  failure: string | null = null;
  ended = false;
  readonly started: string[] = [];
  readonly skipped: string[] = [];
  private readonly edges: readonly WalkEdge[];
  private order = 0;

  constructor(nodes: readonly WalkNode[], edges: readonly WalkEdge[], state: MovementState = 'APPROVED') {
    const targets = new Set(edges.map((each) => each.to));
    this.nodes = nodes.map((each) => (targets.has(each.node_key) ? each : { ...each, state: 'READY' }));
    this.started.push(...this.open());
    this.edges = edges;
    this.state = state;
  }

  get input(): WalkInput {
    return { state: this.state, nodes: this.nodes, edges: this.edges };
  }

  /** Walks until nothing changes any more; what then runs is returned. */
  step(): readonly string[] {
    for (let turns = 0; turns <= this.nodes.length + 3; turns += 1) {
      const next = walk(this.input);
      for (const key of next.ready) {
        if (this.at(key).state !== 'BLOCKED') throw new Error(`${key} made ready twice`);
        this.set(key, { state: 'READY' });
        this.started.push(key);
      }
      for (const key of next.skip) {
        if (this.at(key).state !== 'BLOCKED') throw new Error(`${key} skipped in ${this.at(key).state}`);
        this.set(key, { state: 'SKIPPED' });
        this.skipped.push(key);
      }
      const moved = next.state !== this.state || next.ready.length + next.skip.length > 0;
      this.state = next.state;
      // Once ended, the walk has nothing more to say about why.
      if (next.failure !== null) this.failure = next.failure.error_code;
      this.ended = next.ended;
      if (!moved) return next.run;
    }
    throw new Error('the walk does not come to rest');
  }

  /** Lets one node end, then walks. */
  settle(key: string, outcome: Outcome, more: Partial<WalkNode> = {}): readonly string[] {
    this.order += 1;
    const failed = outcome === 'FAILED' || outcome === 'TIMED_OUT';
    this.set(key, {
      state: outcome === 'TIMED_OUT' ? 'FAILED' : outcome,
      timed_out: outcome === 'TIMED_OUT',
      error_code: outcome === 'TIMED_OUT' ? 'NODE_TIMED_OUT' : failed ? `${key}_failed` : null,
      settled_order: this.order,
      ...more,
    });
    return this.step();
  }

  /** What the operator's cancel writes: nothing that has not begun will, but for the cancel lane. */
  cancel(): readonly string[] {
    const lane = new Set(this.edges.filter((each) => each.edge_type === 'on_cancel').map((each) => each.to));
    this.nodes = this.nodes.map((each) =>
      each.state === 'READY' || (each.state === 'BLOCKED' && !lane.has(each.node_key)) ? { ...each, state: 'CANCELLED' } : each,
    );
    this.state = 'CANCELLED';
    return this.step();
  }

  set(key: string, change: Partial<WalkNode>): void {
    this.nodes = this.nodes.map((each) => (each.node_key === key ? { ...each, ...change } : each));
  }

  at(key: string): WalkNode {
    const found = this.nodes.find((each) => each.node_key === key);
    if (found === undefined) throw new Error(`no node ${key}`);
    return found;
  }

  states(): Record<string, string> {
    return Object.fromEntries(this.nodes.map((each) => [each.node_key, each.state]));
  }

  private open(): string[] {
    return this.nodes.filter((each) => each.state === 'READY').map((each) => each.node_key);
  }
}
