/** A plan template as registered, and the plan a movement runs. */
import type { CompletionAssurance } from '../executor.ts';
import type { JsonObject } from '../json.ts';
import type { GraphEdge, GraphNode } from '../graph/types.ts';

/**
 * What the plan moves of one asset at most; null where an output decides it and nothing bounds it.
 */
export interface OutflowEntry {
  readonly asset: string;
  readonly amount: string | null;
}

/** `action_type` is required; each other field narrows the choice. */
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
  /** From the start of the node to the fence. */
  readonly execution_seconds?: number;
  /** From the fence to the proven end; absent means no end. */
  readonly observe_seconds?: number;
  /** From the send: observed for longer, it is shown to a person. Ends nothing. */
  readonly attention_seconds?: number;
}

/** For preflight, prepare, recover and observe errors; never for submit. */
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

/** What a movement is to do. `amount` is a decimal string in units of `asset`. */
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
  /** What the node moves or looks for: its config's asset, else the intent's. */
  readonly asset: string;
  /** It moves funds. */
  readonly sends: boolean;
  readonly executor_binding: ExecutorBinding;
  readonly signer_binding: SignerBinding | null;
  /** The contract that pulls what the node sends, by an allowance of its signer. */
  readonly pulled_by?: string;
  /** What it pulls, where the config does not say it. */
  readonly pulled_token?: string;
  /**
   * What has to be shown of it. Absent in plans that were compiled before nodes had one: then the
   * plan's.
   */
  readonly completion_assurance?: CompletionAssurance;
}

/** Everything an approval binds to: the canonical form of this is what is hashed. */
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
  /** What the plan can move at most in one run, by asset. */
  readonly outflow: readonly OutflowEntry[];
  readonly intent: Intent;
  readonly input_params: JsonObject;
}
