import type { Rule } from './rule.ts';

export const graphRules: readonly Rule[] = [];
