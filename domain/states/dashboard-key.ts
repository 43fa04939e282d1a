/** The lifecycle of an operator's enrolled key. An administrator confirms it; it ends once. */
import type { TransitionTable } from './table.ts';

export const DASHBOARD_KEY_STATES = ['pending', 'confirmed', 'ended'] as const;
export type DashboardKeyState = (typeof DASHBOARD_KEY_STATES)[number];

export const DASHBOARD_KEY_TABLE: TransitionTable<DashboardKeyState> = {
  entity: 'dashboard key',
  moves: { pending: ['confirmed', 'ended'], confirmed: ['ended'], ended: [] },
};
