// Written by `npm run client:types` from the API; not by hand.
/** States in which a movement has ended; a failed one moves again only when it is retried. */
export const MOVEMENT_END_STATES = ['COMPLETED', 'FAILED', 'REJECTED', 'EXPIRED', 'CANCELLED'] as const;

/** States that a capital transfer never leaves. */
export const TRANSFER_END_STATES = ['COMPLETED', 'FAILED'] as const;
