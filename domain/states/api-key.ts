/** The lifecycle of an API key: a revoked one stays on record and never comes back. */
import type { TransitionTable } from './table.ts';

export const API_KEY_STATUSES = ['active', 'revoked'] as const;
export type ApiKeyStatus = (typeof API_KEY_STATUSES)[number];

export const API_KEY_TABLE: TransitionTable<ApiKeyStatus> = {
  entity: 'API key',
  moves: { active: ['revoked'], revoked: [] },
};
