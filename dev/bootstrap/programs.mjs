// Every program that can be started: the name of its file in dist/, and the source that it is built
// from.
import { join } from 'node:path';
import { ROOT } from './install.mjs';

export const PROGRAMS = {
  main: 'main.ts',
  executor: 'venues/cex/served/main.ts',
  fundadmin: 'tools/fundadmin.ts',
  fundctl: 'clients/fundctl/main.ts',
  'executor-check': 'executor-kit/check/main.ts',
  // Programs for agents.
  'fund-mcp': 'clients/mcp/main.ts',
  fundagent: 'clients/fundagent/main.ts',
  // The embedded stack.
  start: 'dev/start.ts',
  demo: 'dev/demo.ts',
  'embedded-fundadmin': 'dev/fundadmin.ts',
  'embedded-fundctl': 'dev/fundctl.ts',
  'embedded-fundagent': 'dev/fundagent.ts',
  chain: 'dev/simulators/chain/proxy.ts',
  'paper-venue': 'dev/simulators/paper-venue/main.ts',
  'bridge-attester': 'dev/simulators/bridge/attester/main.ts',
  'bridge-deliverer': 'dev/simulators/bridge/deliverer/main.ts',
  'perp-venue': 'dev/simulators/perp/main.ts',
  'temporal-download': 'dev/stack/temporal-download.ts',
  'image-check': 'dev/image/check.ts',
  'deploy-check': 'dev/deploy/check.ts',
  'deploy-follow': 'dev/deploy/follow.ts',
  'deploy-follow-inside': 'dev/deploy/follow-inside.ts',
  topology: 'dev/topology/main.ts',
  // Examples for executor teams and for endpoints of callbacks.
  'executor-http': 'examples/executor-http/main.ts',
  'executor-task-queue': 'examples/executor-task-queue/main.ts',
  'callback-receiver': 'examples/callback-receiver/main.ts',
  // Measurements and trials, and programs that write generated files.
  bench: 'bench/main.ts',
  'bench-api': 'bench/processes/api.ts',
  'bench-scale': 'bench/scale/main.ts',
  'bench-baseline': 'bench/processes/baseline.ts',
  'bench-delay': 'bench/processes/delay.ts',
  'bench-perimeter': 'bench/processes/perimeter.ts',
  'bench-remote': 'bench/processes/remote.ts',
  'bench-team': 'bench/processes/team.ts',
  'bench-worker': 'bench/processes/worker.ts',
  chaos: 'test/chaos/main.ts',
  simulate: 'test/simulation/main.ts',
  'simulated-world': 'test/simulation/one-world.ts',
  'simulation-worker': 'test/simulation/both/worker.ts',
  fuzz: 'test/fuzz/main.ts',
  contracts: 'dev/simulators/bridge/contracts/compile.ts',
  'conditions-worst-case': 'test/domain/conditions/worst-case-figures.ts',
  'executor-forgetful': 'test/executor-kit/support/forgetful.ts',
  'client-pack': 'dev/client/pack.ts',
  'client-types': 'dev/client/types.ts',
  'docs-pictures': 'dev/pictures.ts',
  'docs-tables': 'dev/docs/write.ts',
  'monitoring-check': 'dev/monitoring/check.ts',
  'monitoring-dashboards': 'dev/monitoring/write-dashboards.ts',
  'kit-pack': 'dev/kit/main.ts',
  'replay-record': 'test/replay/record.ts',
  'rules-prove': 'test/rules/prove.ts',
  breaks: 'test/breaks/main.ts',
  'rules-table': 'test/rules/write.ts',
  'sql-migration': 'prisma/write-functions-migration.ts',
  'check-migrations': 'dev/migrations/check.ts',
  'release-migrations': 'dev/migrations/release.ts',
  'release-state': 'test/upgrade/main.ts',
};

/** Commands that people run by name, as in `bin` of package.json, and wait for. */
export const COMMANDS = ['fundadmin', 'fundctl', 'fundagent', 'fund-mcp'];

/**
 * What production runs: the service, exchanges in processes of their own, and the commands of
 * administrators and operators.
 */
export const SHIPPED = ['main', 'executor', 'fundadmin', 'fundctl'];

/** Libraries that our plain JavaScript imports from dist/. */
export const LIBRARIES = {
  'shared-stack': 'test/support/shared-stack.ts',
  'temporal-binary': 'dev/stack/temporal-binary.ts',
};

/**
 * Where the build puts a program or a library.
 *
 * @param {string} name
 */
export function built(name) {
  if (!Object.hasOwn({ ...PROGRAMS, ...LIBRARIES }, name))
    throw new Error(`there is no "${name}" in dev/bootstrap/programs.mjs`);
  return join(ROOT, 'dist', `${name}.js`);
}
