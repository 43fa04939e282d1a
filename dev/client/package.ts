/** The npm package of the typed client. */
import type { PackageSpec } from '../packages/package.ts';

export const CLIENT = {
  folder: 'client',
  name: 'fund-movement-client',
  description: 'The typed client of the Fund Movement Orchestration Service',
  entries: { '.': { lib: 'index', source: 'clients/http/index.ts' } },
  platform: 'neutral',
  readme: 'clients/http/README.md',
} as const satisfies PackageSpec;
