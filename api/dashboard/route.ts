/** A route under `/dashboard/` that only the dashboard has, and who may call the route. */
import type { Caller } from '../../domain/roles.ts';
import type { Route } from '../http/route.ts';
import type { SignedRequest } from '../http/signed-request.ts';

/**
 * - `open`: anyone;
 * - `local`: unsigned from this machine only, otherwise as `known`;
 * - `known`: an operator who signed, or for a GET has a session;
 * - `signed`: an operator who signed;
 * - `allowlist`: an operator who signed and may write the allowlist;
 * - an object: the caller that `find` returns; `by` is the access that the API document describes.
 */
export type Access =
  | 'open'
  | 'local'
  | 'known'
  | 'signed'
  | 'allowlist'
  | {
      readonly by: 'known' | 'signed' | 'enrolling' | 'session';
      readonly find: (request: SignedRequest) => Promise<Caller>;
    };

/** The caller of a route that does not authenticate. */
export const ANYONE: Caller = { client_id: null, key_id: null, role: 'allowlist' };

export interface DashboardRoute {
  readonly route: Route;
  readonly access: Access;
  /**
   * One of the four routes that are older than the console: allowed under any host name, with any
   * nonce for a key of the file, and without a rate limit.
   */
  readonly older?: true;
}
