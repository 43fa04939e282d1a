/** The rows of the bridge registry, and the reader of the chains in these rows. */
import type { JsonObject } from '../json.ts';

/** A chain of the bridge. Times are ISO 8601. */
export interface BridgeChain {
  readonly chain: string;
  /**
   * `<eid>:<address>`: the bridge's id of the chain, and the address of the bridge's endpoint
   * contract there.
   */
  readonly endpoint_identity: string;
  readonly finality_age_seconds: number;
  /** Increases when the facts about the endpoint contract change. */
  readonly snapshot_version: number;
  /** True: the endpoint contract could not be read at the last refresh, or was never read. */
  readonly snapshot_stale: boolean;
  readonly stale_detected_at: string | null;
  readonly operator_label: string | null;
  /** When the facts were read; null: not read since the row got its present identity. */
  readonly snapshot_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** Identifies a path: the names of its two chains in the bridge registry, and the asset. */
export interface BridgePathKey {
  readonly src_chain: string;
  readonly dst_chain: string;
  readonly asset: string;
}

/** The fields of a path that people write. The service writes the other fields. */
export interface BridgePathFields extends BridgePathKey {
  readonly expected_latency_seconds: number;
  readonly detection_latency_budget_seconds: number;
  /** The most that a send may cost: decimal string in the coin of the source chain. */
  readonly fee_native_budget: string;
  readonly enabled: boolean;
  readonly disabled_reason: string | null;
  readonly baseline_source: string | null;
  readonly operator_label: string | null;
}

/** The baseline of a path. Times are ISO 8601. */
export interface BridgePath extends BridgePathFields {
  /** Null: no drill has passed since an endpoint identity of its chains changed. */
  readonly last_drill_pass_at: string | null;
  /** A path to evidence. The service stores it and never opens it. */
  readonly last_drill_evidence_path: string | null;
  /**
   * The contracts that the venues file named when the drill passed, as the text of `pathContracts`;
   * null if it named none for an end.
   */
  readonly last_drill_contracts: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The whole registry at one moment (`now`: time of the database's clock). */
export interface BridgeRegistry {
  readonly now: string;
  readonly chains: readonly BridgeChain[];
  readonly paths: readonly BridgePath[];
}

/**
 * Reads a chain's endpoint contract. `ok` false: no answer, or the contract is not the one in the
 * row; then the snapshot is stale. Facts are compared as a whole, so a value that changes by itself
 * must not be a fact.
 */
export interface BridgeReader {
  read(
    chain: Pick<BridgeChain, 'chain' | 'endpoint_identity'>,
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly ok: true; readonly facts: JsonObject } | { readonly ok: false }>;
}

/** The reader for a process that is bound to no chain. */
export const NO_BRIDGE_CHAINS: BridgeReader = { read: () => Promise.resolve({ ok: false }) };

/** Returns the parts of an endpoint identity; null for other text. */
export function readEndpointIdentity(
  identity: string,
): { readonly eid: number; readonly address: string } | null {
  const [, eid, address] = ENDPOINT_IDENTITY.exec(identity) ?? [];
  return eid === undefined || address === undefined ? null : { eid: Number(eid), address };
}

/** An address that starts with 0x must have the length of an EVM address. */
export const ENDPOINT_IDENTITY = /^([1-9][0-9]{0,9}):(0x[0-9a-fA-F]{40}|(?!0x)[A-Za-z0-9]{1,128})$/;
