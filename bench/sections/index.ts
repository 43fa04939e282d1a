/** The sections by name, in the order in which they run. */
import { alone } from './alone.ts';
import { branches } from './branches.ts';
import type { Section } from './context.ts';
import { graphs } from './graphs.ts';
import { perimeter } from './perimeter.ts';
import { routes } from './routes.ts';
import { remote, throughput } from './throughput.ts';
import { waiting } from './waiting.ts';

export const SECTIONS = {
  perimeter,
  throughput,
  remote,
  alone,
  branches,
  graphs,
  waiting,
  routes,
} as const satisfies Record<string, Section>;
export type SectionName = keyof typeof SECTIONS;
