import type { Rule } from './rule.ts';

export const lockRules: readonly Rule[] = [];
