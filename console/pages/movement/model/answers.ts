/** Types of the page's reads, from the API's own document. */
import type { ResultOf } from '../../../../clients/http/operations.ts';

export type Movement = ResultOf<'getMovement'>;
export type Graph = ResultOf<'getMovementGraph'>;
export type Timeline = ResultOf<'getMovementTimeline'>;
export type Review = NonNullable<Movement['review']>;
export type Attention = NonNullable<Movement['attention']>;

/** A row of the allowlist, as `GET /dashboard/allowed-addresses` returns it. */
export interface ListedRow {
  readonly chain_family: 'evm' | 'cex';
  readonly address: string;
  readonly chain_id: number | null;
  readonly label: string | null;
  readonly active: boolean;
  readonly usable_after: string | null;
  readonly created_by: string;
  readonly created_at: string;
}
