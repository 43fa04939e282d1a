import type { Rule } from './rule.ts';

export const moneyRules: readonly Rule[] = [];
