/** The sections by name, in the order in which they run. */
import { alone } from './alone.ts';
import { branches } from './branches.ts';
import type { Section } from './context.ts';
import { commands } from './commands.ts';
import { consoleCosts } from './console.ts';
import { creation } from './creation.ts';
import { graphs } from './graphs.ts';
import { idle } from './idle.ts';
import { perimeter } from './perimeter.ts';
import { routes } from './routes.ts';
import { remote, team, throughput } from './throughput.ts';
import { waiting } from './waiting.ts';

export const SECTIONS = {
  perimeter,
  throughput,
  remote,
  team,
  alone,
  branches,
  graphs,
  waiting,
  routes,
  creation,
  commands,
  console: consoleCosts,
  idle,
} as const satisfies Record<string, Section>;
export type SectionName = keyof typeof SECTIONS;
