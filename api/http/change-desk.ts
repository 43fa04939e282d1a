/** What the pipeline needs of change requests; `createApi` puts it in the dependencies. */
import type { ChangeCall, ChangeWaits } from '../../domain/approval/change.ts';
import type { Requester } from '../../domain/commands/context.ts';
import type { Caller } from '../../domain/roles.ts';

export interface ChangeDesk {
  /**
   * Makes a request for a call that waits for people; returns its 202. Null: no rule holds now,
   * so the call may be made again.
   */
  ask(
    waits: ChangeWaits,
    call: ChangeCall,
    requester: Requester,
  ): Promise<{ readonly status: 202; readonly body: object } | null>;
  /**
   * Makes a stored call as its author, whose role must still hold. Throws what the call would be
   * answered: a ServiceError, or ChangeWaits.
   */
  perform(
    call: ChangeCall,
    by: { readonly author: Caller; readonly request_id: string },
  ): Promise<void>;
}
