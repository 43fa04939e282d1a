/** Defines one address that a node pays. */
import type { ChainFamily } from './address.ts';

export interface Destination {
  readonly node_key: string;
  readonly chain_family: ChainFamily;
  readonly address: string;
  readonly chain_id: number | null;
  /** True: the allowlist row must name the chain. */
  readonly strict: boolean;
  /** Why the node may pay nothing at all, whatever the allowlist contains. */
  readonly problem?: string;
  /**
   * True for an address in an undeclared field of a team's own node. It is not a payee if it is the
   * plan's own token or signer.
   */
  readonly aside?: boolean;
}
