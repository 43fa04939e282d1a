/** A route under `/dashboard/` that is not of the API's table, and who may call it. */
import type { Caller } from '../../domain/roles.ts';
import type { Route } from '../http/route.ts';
import type { SignedRequest } from '../http/signed-request.ts';

/**
 * - `open`: anyone;
 * - `local`: unsigned from this machine alone, else as `known`;
 * - `known`: an operator who signed, or for a GET has a session;
 * - `signed`: an operator who signed;
 * - `allowlist`: an operator who signed and writes the allowlist;
 * - an object: the caller that `find` returns; `by` says what the document describes.
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

/** As whom a route is called that asks no one. */
export const ANYONE: Caller = { client_id: null, key_id: null, role: 'allowlist' };

export interface DashboardRoute {
  readonly route: Route;
  readonly access: Access;
  /**
   * Of the four that were there before the console: taken under any host name, with any nonce of a
   * key of the file, and as often as anyone likes.
   */
  readonly older?: true;
}
