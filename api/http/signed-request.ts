/** The request in the form on which signatures are checked. */
import type { Target } from './target.ts';

/** The parts of a request that an authenticator may read, exactly as received. */
export interface SignedRequest {
  readonly method: string;
  readonly target: Target;
  /** Lower-case names to every value that was sent. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  readonly body: Uint8Array;
  readonly request_id: string;
}
