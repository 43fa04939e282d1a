/** The lifecycle of an operator's enrolled key: a person confirms it, and it ends for good. */
import type { TransitionTable } from './table.ts';

export const DASHBOARD_KEY_STATES = ['pending', 'confirmed', 'ended'] as const;
export type DashboardKeyState = (typeof DASHBOARD_KEY_STATES)[number];

export const DASHBOARD_KEY_TABLE: TransitionTable<DashboardKeyState> = {
  entity: 'dashboard key',
  moves: { pending: ['confirmed', 'ended'], confirmed: ['ended'], ended: [] },
};
