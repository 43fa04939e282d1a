/** Where a node pays. */
import type { ChainFamily } from './address.ts';

export interface Destination {
  readonly node_key: string;
  readonly chain_family: ChainFamily;
  readonly address: string;
  readonly chain_id: number | null;
  /** The row must name the chain. */
  readonly strict: boolean;
  /** Why nothing may be paid at all, whatever is on the list. */
  readonly problem?: string;
  /**
   * In a team's own node, an address that no field declares: no payee where it is the plan's own
   * token or signer.
   */
  readonly aside?: boolean;
}
