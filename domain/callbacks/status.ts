/** States of a callback, and the allowed transitions between them. */
import type { TransitionTable } from '../states/table.ts';

export const CALLBACK_STATUSES = ['pending', 'delivered', 'dead_letter'] as const;
export type CallbackStatus = (typeof CALLBACK_STATUSES)[number];

/** A delivered callback stays delivered; a dead letter can be sent again. */
export const CALLBACK_TABLE: TransitionTable<CallbackStatus> = {
  entity: 'callback',
  moves: { pending: ['delivered', 'dead_letter'], delivered: [], dead_letter: ['pending'] },
};

/** States from which a callback can be sent again. */
export const REDELIVERABLE: readonly CallbackStatus[] = CALLBACK_STATUSES.filter((status) =>
  CALLBACK_TABLE.moves[status].includes('pending'),
);
