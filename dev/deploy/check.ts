/**
 * `npm run deploy:check`: checks the compose file, its proxy and scripts, and the Helm chart, each
 * with the program that reads it. Reports and skips what this machine cannot check.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { report } from '../bootstrap/progress.mjs';
import { findOnPath } from '../bootstrap/temporal-build.mjs';
import { find, whyMissing } from '../image/packages.ts';
import { ROOT } from '../stack/ports.ts';
import { goPrograms } from './go-programs.ts';
import { pythonFor } from '../../test/support/python.ts';

const run = promisify(execFile);
const HELM_VERSION = '3.22.0';
/**
 * Versions of Kubernetes to check: the oldest that the chart accepts, and the newest known here.
 */
const KUBERNETES = ['1.25.0', '1.37.0'];
const CHART = join(ROOT, 'deploy/helm/fund-movement-orchestrator');
const EXAMPLE = join(ROOT, 'deploy/helm/example-values.yaml');
const work = mkdtempSync(join(tmpdir(), 'deploy-check-'));

/**
 * A check: throws the program's output when the check fails; returns why it was skipped, or null.
 */
type Check = () => Promise<string | null>;
const CHECKS: Readonly<Record<string, Check>> = {
  'scripts (sh -n)': async () => {
    const folder = join(ROOT, 'deploy/compose');
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.sh')))
      await run('sh', ['-n', join(folder, name)]);
    return null;
  },
  'docker-compose.yml (docker-compose config)': async () => {
    const why = await whyMissing(['docker-compose']);
    if (why !== null) return why;
    await run(find('docker-compose') ?? '', ['-f', join(ROOT, 'docker-compose.yml'), 'config']);
    return null;
  },
  'proxy (haproxy -c)': async () => {
    const why = await whyMissing(['haproxy']);
    if (why !== null) return why;
    await run(find('haproxy') ?? '', ['-c', '-f', join(ROOT, 'deploy/compose/haproxy.cfg')]);
    return null;
  },
  'chart (helm lint, helm template, schemas of Kubernetes)': async () => {
    const helm = await findHelm();
    if (helm === null) return 'neither helm nor Go to build it with is on PATH';
    await run(helm, ['lint', '--strict', CHART, '--values', EXAMPLE]);
    await refusals(helm);
    const python = await pythonFor(
      {
        name: 'kubernetes-validate-venv',
        requirements: join(ROOT, 'dev/deploy/requirements.txt'),
        called: 'the check of Kubernetes resources',
      },
      new AbortController().signal,
      report,
    );
    const validate = join(python, '..', 'kubernetes-validate');
    for (const version of KUBERNETES)
      await run(validate, ['--strict', '-k', version, ...(await rendered(helm, version))]);
    return null;
  },
};

let failed = 0;
for (const [name, check] of Object.entries(CHECKS))
  try {
    const why = await check();
    report(why === null ? `✓ ${name}` : `SKIPPED: ${name}: ${why}`);
  } catch (error) {
    failed += 1;
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    report(`✗ ${name}\n${`${stdout}${stderr}`.trim() || String(error)}`);
  }
rmSync(work, { recursive: true, force: true });
process.exit(failed === 0 ? 0 : 1);

/** Renders the example in full, and with each switch of the chart reversed. */
async function rendered(helm: string, version: string): Promise<string[]> {
  const ways = {
    example: [],
    bare: ['--set', 'networkPolicy.enabled=false,migrate.enabled=false'],
  };
  const files: string[] = [];
  for (const [name, args] of Object.entries(ways)) {
    const { stdout } = await run(helm, template(version, args));
    const file = join(work, `${name}.yaml`);
    writeFileSync(file, stdout);
    files.push(file);
    // API: 10 s drain, 40 s for requests, 10 s to end. Worker: 10 s drain, 30 s for the longest
    // call, 5 s for its record, 10 s to end. test/dev/grace.test.ts compares the chart with the
    // service's own limits.
    const graces = [...stdout.matchAll(/terminationGracePeriodSeconds: (\d+)/g)].map(([, s]) => s);
    if (graces.join() !== '60,55') throw new Error(`graces of ${name}: ${graces.join()}`);
    const secrets = [...stdout.matchAll(/secretName: ([\w-]+)/g)].map(([, secret]) => secret);
    const expected =
      name === 'example' ? 'fund-api,fund-worker,fund-owner' : 'fund-api,fund-worker';
    if (secrets.join() !== expected) throw new Error(`Secrets of ${name}: ${secrets.join()}`);
  }
  return files;
}

function template(version: string, args: readonly string[]): string[] {
  return ['template', 'fund', CHART, '--kube-version', version, '--values', EXAMPLE, ...args];
}

/** Checks that the chart refuses invalid values. */
async function refusals(helm: string): Promise<void> {
  const refused = [
    'image.repository=',
    'api.secretName=',
    'migrate.grantTo=',
    'settings.SVC_DATABASE_URL=postgresql://in-plain-sight',
    'worker.files.SVC_DATABASE_OWNER_URL=owner-url',
    'misspelt=1',
  ];
  for (const value of refused) {
    const args = template(KUBERNETES[0] ?? '', ['--set', value]);
    const took = await run(helm, args).then(
      () => true,
      () => false,
    );
    if (took) throw new Error(`the chart accepted the invalid value ${value}`);
  }
}

/** Returns the path of helm: from PATH, else built once with Go and cached; null without Go. */
async function findHelm(): Promise<string | null> {
  const found = findOnPath('helm');
  if (found !== null) return found;
  const packages = { helm: 'helm.sh/helm/v3/cmd/helm' };
  return (await goPrograms({ label: 'helm', version: HELM_VERSION, packages }))?.['helm'] ?? null;
}
