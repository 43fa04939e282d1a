/** The rows of the bridge registry, and the reader of the chains that they describe. */
import type { JsonObject } from '../json.ts';

/** A chain of the bridge. Times are ISO 8601. */
export interface BridgeChain {
  readonly chain: string;
  /** `<eid>:<address>`, the bridge's id of the chain and its endpoint's address there. */
  readonly endpoint_identity: string;
  readonly finality_age_seconds: number;
  /** Grows whenever the facts of the endpoint change. */
  readonly snapshot_version: number;
  /** The endpoint did not answer at the last refresh, or was never read. */
  readonly snapshot_stale: boolean;
  readonly stale_detected_at: string | null;
  readonly operator_label: string | null;
  /** When the facts were read; null: not since the row has its present identity. */
  readonly snapshot_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The key of a path. */
export interface BridgePathKey {
  readonly src_chain: string;
  readonly dst_chain: string;
  readonly asset: string;
}

/** The fields of a path that people write. */
export interface BridgePathFields extends BridgePathKey {
  readonly expected_latency_seconds: number;
  readonly detection_latency_budget_seconds: number;
  /** Decimal string, in the coin of the source chain: the most that a send may cost. */
  readonly fee_native_budget: string;
  readonly enabled: boolean;
  readonly disabled_reason: string | null;
  readonly baseline_source: string | null;
  readonly operator_label: string | null;
}

/** The baseline of a path. Times are ISO 8601. */
export interface BridgePath extends BridgePathFields {
  /** Null: no drill has passed since an identity of its chains changed. */
  readonly last_drill_pass_at: string | null;
  /** Stored and never opened: a path to evidence. */
  readonly last_drill_evidence_path: string | null;
  /**
   * The contracts that the venues file named when it passed, as `pathContracts` says them; null
   * where it named none for an end.
   */
  readonly last_drill_contracts: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** All of it at one moment (`now`: the database's clock). */
export interface BridgeRegistry {
  readonly now: string;
  readonly chains: readonly BridgeChain[];
  readonly paths: readonly BridgePath[];
}

/**
 * Reads a chain's endpoint. `ok` false: it did not answer, or is not what the row says; then the
 * snapshot is stale. Facts are compared as a whole, so nothing that changes by itself may be a
 * fact.
 */
export interface BridgeReader {
  read(
    chain: Pick<BridgeChain, 'chain' | 'endpoint_identity'>,
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly ok: true; readonly facts: JsonObject } | { readonly ok: false }>;
}

/** The reader of a process that is bound to no chain. */
export const NO_BRIDGE_CHAINS: BridgeReader = { read: () => Promise.resolve({ ok: false }) };

/** The parts of an endpoint identity, or null for another text. */
export function readEndpointIdentity(
  identity: string,
): { readonly eid: number; readonly address: string } | null {
  const [, eid, address] = ENDPOINT_IDENTITY.exec(identity) ?? [];
  return eid === undefined || address === undefined ? null : { eid: Number(eid), address };
}

/** An address that starts like an EVM address must have its length. */
export const ENDPOINT_IDENTITY = /^([1-9][0-9]{0,9}):(0x[0-9a-fA-F]{40}|(?!0x)[A-Za-z0-9]{1,128})$/;
