/** Helpers for commands that change the bridge registry: audit rows, and refused changes. */
import type { AuditAction } from '../../domain/events.ts';
import type { BridgeChain, BridgePathKey } from '../../domain/bridges/registry.ts';
import { staleSince } from '../../domain/bridges/snapshot.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { AuditEntry } from '../../domain/transition.ts';
import type { At, ChainChange, PathChange } from '../../store/bridge-registry.ts';
import { setting, warnUnvouched } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';

type Action = Extract<AuditAction, `bridge_${'chain' | 'path'}.${string}`>;

/** Returns the audit row of a change; `written` holds the values that the change writes. */
export function auditOf(
  action: Action,
  entity_key: string,
  { reason, written = {} }: { readonly reason: string; readonly written?: JsonObject },
  io: ToolIo,
): AuditEntry {
  warnUnvouched(io, 'change');
  return {
    action,
    entity_type: action.startsWith('bridge_chain.') ? 'bridge_chain' : 'bridge_path',
    entity_key,
    outcome: 'success',
    reason,
    details: { ...written, tool: 'fundadmin' },
  };
}

export function pathName({ src_chain, dst_chain, asset }: BridgePathKey): string {
  return `${src_chain}/${dst_chain}/${asset}`;
}

/** Returns a chain as the API shows it: its snapshot is also stale when it is too old. */
export function chainView({ row, now }: At<BridgeChain>, io: ToolIo): BridgeChain {
  const maxAgeSeconds = setting(io, 'SVC_BRIDGE_SNAPSHOT_MAX_AGE_SECONDS') ?? 0;
  const stale_detected_at = staleSince(row, { now, maxAgeSeconds });
  return { ...row, snapshot_stale: stale_detected_at !== null, stale_detected_at };
}

export function chainOf(change: ChainChange | null, chain: string): At<BridgeChain> {
  switch (change?.outcome) {
    case undefined:
      throw new ToolError(`The bridge registry has no chain ${chain}.`);
    case 'done':
      return change;
    case 'chain_exists':
      throw new ToolError(`The chain ${chain} exists; replace-chain changes it.`);
    case 'endpoint_identity_conflict':
      throw new ToolError(`The chain ${change.chain ?? 'of another row'} has that endpoint.`);
    case 'chain_in_use':
      throw new ToolError(
        `${String(change.path_baselines)} baselines begin or end at ${chain}; remove them first.`,
      );
  }
}

export function pathOf(change: PathChange | null, path: BridgePathKey) {
  switch (change?.outcome) {
    case undefined:
      throw new ToolError(`The bridge registry has no baseline ${pathName(path)}.`);
    case 'done':
      return change.row;
    case 'path_baseline_exists':
      throw new ToolError(`The baseline ${pathName(path)} exists; replace-baseline changes it.`);
    case 'chain_not_found':
      throw new ToolError(`The bridge registry has no chain ${change.chain}; add it first.`);
  }
}
