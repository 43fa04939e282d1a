import type { Rule } from './rule.ts';

export const commandRules: readonly Rule[] = [];
