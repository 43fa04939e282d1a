/** The lifecycle of an API key: a revoked key stays stored and never becomes active again. */
import type { TransitionTable } from './table.ts';

export const API_KEY_STATUSES = ['active', 'revoked'] as const;
export type ApiKeyStatus = (typeof API_KEY_STATUSES)[number];

export const API_KEY_TABLE: TransitionTable<ApiKeyStatus> = {
  entity: 'API key',
  moves: { active: ['revoked'], revoked: [] },
};
