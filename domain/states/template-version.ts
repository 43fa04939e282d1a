/** The lifecycle of a version of a plan template: its plan never changes, and it retires once. */
import type { TransitionTable } from './table.ts';

export const TEMPLATE_STATUSES = ['active', 'retired'] as const;
export type TemplateStatus = (typeof TEMPLATE_STATUSES)[number];

export const TEMPLATE_TABLE: TransitionTable<TemplateStatus> = {
  entity: 'template version',
  moves: {
    active: ['retired'],
    retired: [],
  },
};
