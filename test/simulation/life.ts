/** What is known of a movement's life, and of all lives of a world. */
import type { PlannedStop } from './administrator.ts';
import type { Machine } from './machine/machine.ts';
import type { Api } from './service.ts';
import type { AtExchange } from './worlds/at-exchange.ts';
import type { Chain } from './worlds/chain.ts';
import type { Desk } from './worlds/desk.ts';

export interface Life {
  readonly number: number;
  readonly template: string;
  /** The nodes of its plan that send on the chain. */
  readonly transfers: readonly string[];
  readonly asset: string;
  readonly amount: string;
  /** Its people name the node that they saw in every resume and retry. */
  readonly isNaming: boolean;
  movement_id: string | null;
  /** When each command was first sent, in milliseconds since 1970; null: never. */
  readonly sent: Record<Command, number | null>;
  /** Which commands the service has accepted, and when it said so. */
  readonly accepted: Record<Command, number | null>;
  state: string | null;
  isOver: boolean;
}

export type Command = 'approve' | 'reject' | 'cancel';

/** A resume or a retry that a person sent, with what that person had seen. */
export interface Click {
  readonly movement_id: string;
  readonly verb: 'resume' | 'retry';
  /** Null: the person named no node. */
  readonly named: {
    readonly node_key: string;
    readonly attempt: number;
    readonly state: string;
  } | null;
  /** When it was sent, in milliseconds since 1970. */
  readonly at: number;
}

/** All lives of a world, and what they noticed. */
export interface Lives {
  readonly list: readonly Life[];
  readonly stops: readonly PlannedStop[];
  /** How many stops are requested and not answered. */
  deciding: number;
  readonly clicks: Click[];
  /** Movements that waited for a person and did not say why, or offered nothing that leads on. */
  readonly silent: { readonly movement_id: string; readonly state: string }[];
  /** Answers that contradict what was requested or answered before. */
  readonly wrong: { readonly movement_id: string; readonly found: string }[];
  /** Requests that failed after the storm. */
  readonly failed: { readonly request: string; readonly status: number }[];
}

export interface LivesOptions {
  readonly machine: Machine;
  readonly movements: number;
  readonly desks: readonly Desk[];
  readonly chain: Pick<Chain, 'transferOf'>;
  /** Where every movement withdraws; null: movements pay through the desks and the chain. */
  readonly exchange: AtExchange | null;
  /** An API that is up; null while none is. */
  readonly api: () => Api | null;
  readonly isCalm: () => boolean;
}
