/** Short forms for graphs and for walking them to their end. */
import { withConditions } from '../../../domain/conditions/apply.ts';
import type { ConditionNode, ConditionResult } from '../../../domain/conditions/scope.ts';
import { settleConditions } from '../../../domain/conditions/settle.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { reopened } from '../../../domain/graph/retry.ts';
import type { EdgeType, NodeKind } from '../../../domain/graph/types.ts';
import type { WalkEdge, WalkInput, WalkNode } from '../../../domain/graph/walk-types.ts';
import { walk, type WalkResult } from '../../../domain/graph/walk.ts';
import type { MovementState } from '../../../domain/states/movement.ts';

/** `a>b` is on_success; `a>b:on_failure` names the type. */
export function edge(text: string, more: Partial<WalkEdge> = {}): WalkEdge {
  const [ends = '', type = 'on_success'] = text.split(':');
  const [from = '', to = ''] = ends.split('>');
  return {
    from,
    to,
    edge_type: type as EdgeType,
    priority: 0,
    join_key: null,
    condition_expr: null,
    condition: null,
    ...more,
  };
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

/** What the database holds of a movement: all that a run which begins anew can know. */
export interface Recorded {
  readonly state: MovementState;
  readonly nodes: readonly WalkNode[];
  readonly results: Readonly<Record<string, ConditionResult>>;
}

/** Does each node's way out by CEL rather than by what was drawn with the edges. */
export interface Conditions {
  readonly amount: string;
  readonly input_params: JsonObject;
}

/** A movement in memory: applies what the walk says, as the workflow does. */
export class Run {
  nodes: WalkNode[];
  state: MovementState;
  failure: string | null = null;
  ended = false;
  readonly started: string[] = [];
  readonly skipped: string[] = [];
  readonly attempts = new Map<string, number>();
  /** Stored results of conditions; used where the run has CEL. */
  results: Record<string, ConditionResult> = {};
  /** Called before each step with what is recorded by then, and after it with what was decided. */
  watch: ((before: Recorded, last: WalkResult, run: Run) => void) | undefined;
  /** Called after each walk with what it saw and said. */
  onWalk: ((input: WalkInput, next: WalkResult) => void) | undefined;
  private readonly planEdges: readonly WalkEdge[];
  private readonly conditions: Conditions | null;
  private readonly outputs = new Map<string, JsonObject | null>();
  private order = 0;

  constructor(
    nodes: readonly WalkNode[],
    edges: readonly WalkEdge[],
    conditions: Conditions | null = null,
  ) {
    const targets = new Set(edges.map((each) => each.to));
    this.nodes = nodes.map((each) =>
      targets.has(each.node_key) ? each : { ...each, state: 'READY' },
    );
    this.started.push(...this.open());
    this.planEdges = edges;
    this.conditions = conditions;
    this.state = 'APPROVED';
  }

  get edges(): readonly WalkEdge[] {
    return this.conditions === null ? this.planEdges : withConditions(this.planEdges, this.results);
  }

  get input(): WalkInput {
    return { state: this.state, nodes: this.nodes, edges: this.edges };
  }

  get recorded(): Recorded {
    return { state: this.state, nodes: this.nodes, results: this.results };
  }

  /** Walks until nothing changes; returns what then runs. */
  step(): readonly string[] {
    const before = this.recorded;
    for (let rounds = 0; rounds <= this.nodes.length + 3; rounds += 1) {
      const next = walk(this.input);
      this.onWalk?.(this.input, next);
      for (const key of next.ready) {
        if (this.at(key).state !== 'BLOCKED') throw new Error(`${key} made ready twice`);
        this.set(key, { state: 'READY' });
        this.started.push(key);
      }
      for (const key of next.skip) {
        if (this.at(key).state !== 'BLOCKED')
          throw new Error(`${key} skipped in ${this.at(key).state}`);
        this.set(key, { state: 'SKIPPED' });
        this.skipped.push(key);
      }
      const moved = next.state !== this.state || next.ready.length + next.skip.length > 0;
      this.state = next.state;
      // Once ended, the walk has nothing more to say about why.
      if (next.failure !== null) this.failure = next.failure.error_code;
      this.ended = next.ended;
      if (moved) continue;
      this.watch?.(before, next, this);
      return next.run;
    }
    throw new Error('the walk does not come to rest');
  }

  /** Lets one node end, then walks. */
  settle(
    key: string,
    outcome: Outcome,
    more: Partial<WalkNode> = {},
    output: JsonObject | null = null,
  ): readonly string[] {
    this.order += 1;
    const failed = outcome === 'FAILED' || outcome === 'TIMED_OUT';
    this.set(key, {
      state: outcome === 'TIMED_OUT' ? 'FAILED' : outcome,
      timed_out: outcome === 'TIMED_OUT',
      error_code: outcome === 'TIMED_OUT' ? 'NODE_TIMED_OUT' : failed ? `${key}_failed` : null,
      settled_order: this.order,
      ...more,
    });
    this.outputs.set(key, output);
    this.evaluate(key);
    return this.step();
  }

  /**
   * What the operator's cancel writes: what has not started never will, but for the cancel branch.
   */
  cancel(): readonly string[] {
    const lane = new Set(
      this.planEdges.filter((each) => each.edge_type === 'on_cancel').map((each) => each.to),
    );
    this.nodes = this.nodes.map((each) =>
      each.state === 'READY' || (each.state === 'BLOCKED' && !lane.has(each.node_key))
        ? { ...each, state: 'CANCELLED' }
        : each,
    );
    this.state = 'CANCELLED';
    return this.step();
  }

  /** What the operator's retry writes. Results of the earlier attempt stay where they are. */
  retry(key: string): readonly string[] {
    const fresh = this.at(key).state === 'FAILED' ? { resumed: false } : {};
    for (const back of reopened(this.input, key)) this.set(back, { state: 'BLOCKED' });
    if (this.at(key).state === 'FAILED') {
      this.attempts.set(key, this.attemptOf(key) + 1);
      this.started.push(this.run(key));
    }
    this.set(key, {
      ...fresh,
      state: 'READY',
      timed_out: false,
      error_code: null,
      settled_order: 0,
    });
    if (this.state !== 'CANCELLED') this.state = 'EXECUTING';
    this.failure = null;
    this.ended = false;
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

  private evaluate(key: string): void {
    if (this.conditions === null) return;
    const { amount, input_params } = this.conditions;
    const plan = {
      nodes: this.nodes,
      edges: this.planEdges,
      intent: { asset: 'USDC', amount },
      input_params,
    };
    const seen = this.nodes.map((each): [string, ConditionNode] => [
      each.node_key,
      {
        state: each.state,
        output: this.outputs.get(each.node_key) ?? null,
        error_code: each.error_code,
      },
    ]);
    this.results = {
      ...this.results,
      ...settleConditions(plan, this.at(key), Object.fromEntries(seen)).results,
    };
  }

  private attemptOf(key: string): number {
    return this.attempts.get(key) ?? 1;
  }

  /** How a run of a node is noted: the first by its key alone. */
  private run(key: string): string {
    return this.attemptOf(key) === 1 ? key : `${key}#${this.attemptOf(key)}`;
  }

  private open(): string[] {
    return this.nodes.filter((each) => each.state === 'READY').map((each) => each.node_key);
  }
}
