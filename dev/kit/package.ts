/** The npm package of the executor kit. */
import type { PackageSpec } from '../packages/package.ts';

export const KIT = {
  folder: 'executor-kit',
  name: 'fund-movement-executor-kit',
  description: 'Executors for the Fund Movement Orchestration Service, and the check of them',
  entries: {
    '.': { lib: 'index', source: 'executor-kit/index.ts' },
    './task-queue': { lib: 'task-queue', source: 'executor-kit/task-queue.ts' },
  },
  // The check command, and the workflow that it runs on Temporal.
  more: [
    { lib: 'executor-check', source: 'executor-kit/check/bin.ts' },
    { lib: 'call-workflow', source: 'executor-kit/check/call-workflow.ts' },
  ],
  bin: { 'executor-check': './lib/executor-check.js' },
  platform: 'node',
  // An executor on a task queue needs all of these packages, an executor over HTTP none.
  optional: /^@temporalio\//,
  readme: 'executor-kit/README.md',
  pages: ['docs/executors.md'],
} as const satisfies PackageSpec;
