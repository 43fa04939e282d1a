/** The types of a registered plan template and of the plan that a movement runs. */
import type { CompletionAssurance } from '../executor.ts';
import type { JsonObject } from '../json.ts';
import type { GraphEdge, GraphNode } from '../graph/types.ts';

/**
 * The most that the plan moves of one asset; null when a node output decides the amount and no
 * limit bounds it.
 */
export interface OutflowEntry {
  readonly asset: string;
  readonly amount: string | null;
}

/** Selects an executor. `action_type` is required; each other field narrows the choice. */
export interface ExecutorSelector {
  readonly action_type: string;
  readonly provider?: string;
  readonly chain_family?: string;
}

export interface SignerSelector {
  readonly chain_family: string;
  readonly profile?: string;
}

export interface TimeoutPolicy {
  /** Limit in seconds from the start of the node to its send. */
  readonly execution_seconds?: number;
  /** Limit in seconds from the send to the proven outcome; absent: no limit. */
  readonly observe_seconds?: number;
  /**
   * Seconds from the send. A node observed for longer is shown to the operator; nothing else
   * happens.
   */
  readonly attention_seconds?: number;
}

/** Applies to errors of preflight, prepare, recover and observe; never to submit. */
export interface RetryPolicy {
  readonly max_attempts?: number;
  readonly initial_interval_seconds?: number;
  readonly backoff_coefficient?: number;
  readonly max_interval_seconds?: number;
}

export interface TemplateNode extends GraphNode {
  readonly action_type: string;
  readonly executor_selector?: ExecutorSelector;
  readonly signer_selector?: SignerSelector;
  readonly input_schema?: JsonObject;
  readonly config?: JsonObject;
  readonly has_side_effect: boolean;
  readonly timeout_policy?: TimeoutPolicy;
  readonly retry_policy?: RetryPolicy;
  readonly risk_patch?: JsonObject;
}

export interface CompletionPolicy {
  readonly completion_assurance: CompletionAssurance;
}

/** One immutable version of a plan template. */
export interface PlanTemplate {
  readonly template_id: string;
  readonly template_key: string;
  readonly version: number;
  readonly nodes: readonly TemplateNode[];
  readonly edges: readonly GraphEdge[];
  readonly risk_controls: JsonObject;
  readonly completion_policy: CompletionPolicy;
}

/** What a movement should do. `amount` is a decimal string in units of `asset`. */
export interface Intent {
  readonly asset: string;
  readonly amount: string;
  readonly destination_address?: string;
  readonly chain_id?: number;
  readonly source_venue?: string;
  readonly destination_venue?: string;
}

export interface ExecutorBinding {
  readonly executor_key: string;
}
export interface SignerBinding {
  readonly signer_key: string;
}

export interface CompiledNode extends Omit<
  TemplateNode,
  'executor_selector' | 'signer_selector' | 'config'
> {
  readonly config: JsonObject;
  /** The asset that the node moves or looks for: its config's, else the intent's. */
  readonly asset: string;
  /** Whether the node moves funds. */
  readonly sends: boolean;
  readonly executor_binding: ExecutorBinding;
  readonly signer_binding: SignerBinding | null;
  /** The contract that pulls what the node sends, using an allowance of its signer. */
  readonly pulled_by?: string;
  /** The token that `pulled_by` pulls, when the config does not name it. */
  readonly pulled_token?: string;
  /**
   * The assurance that the node must show. Absent in plans compiled before this field existed; then
   * the plan's assurance applies.
   */
  readonly completion_assurance?: CompletionAssurance;
}

/** Everything that an approval covers: the hash is that of this object's canonical form. */
export interface CompiledPlan {
  readonly template: {
    readonly template_id: string;
    readonly template_key: string;
    readonly version: number;
  };
  readonly nodes: readonly CompiledNode[];
  readonly edges: readonly GraphEdge[];
  readonly risk_controls: JsonObject;
  readonly completion_policy: CompletionPolicy;
  /** The most that the plan can move in one run, by asset. */
  readonly outflow: readonly OutflowEntry[];
  readonly intent: Intent;
  readonly input_params: JsonObject;
}
