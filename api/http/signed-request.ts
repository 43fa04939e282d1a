/** What signatures are checked on. */
import type { Target } from './target.ts';

/** What an authenticator may look at: the request exactly as it came. */
export interface SignedRequest {
  readonly method: string;
  readonly target: Target;
  /** Lower-case names to every value that was sent. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  readonly body: Uint8Array;
  readonly request_id: string;
}
