/**
 * `npm run deploy:check`: checks the compose file, its proxy and scripts, and the Helm chart, each
 * with the program that reads it. Reports and skips what this machine cannot check.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
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
/** The repository of {@link EXAMPLE}. */
const IMAGE = 'registry.internal/fund-movement-orchestrator';
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
    await otherBuild(helm);
    await otherFiles(helm);
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

/** Renders the example in full, with each switch of the chart reversed, and with one role alone. */
async function rendered(helm: string, version: string): Promise<string[]> {
  // API: 10 s drain, 40 s for requests, 10 s to end. Worker: 10 s drain, 30 s for the longest call,
  // 5 s for its record, 10 s to end. test/dev/grace.test.ts compares the chart with the service's
  // own limits.
  const api = { grace: '60', secret: 'fund-api' };
  const worker = { grace: '85', secret: 'fund-worker' };
  const ways = {
    example: { set: '', roles: [api, worker], owned: true },
    bare: {
      set: 'networkPolicy.enabled=false,migrate.enabled=false,admin.secretName=',
      roles: [api, worker],
      owned: false,
    },
    api: { set: 'worker.replicas=0', roles: [api], owned: true },
    workers: { set: 'api.replicas=0', roles: [worker], owned: true },
  };
  const files: string[] = [];
  const named = new Map<string, readonly string[]>();
  for (const [name, { set, roles, owned }] of Object.entries(ways)) {
    // A build's workers are a release beside that of the API.
    const release = name === 'workers' ? 'fund-next' : 'fund';
    const args = template(version, set === '' ? [] : ['--set', set], release);
    const { stdout } = await run(helm, args);
    const file = join(work, `${name}.yaml`);
    writeFileSync(file, stdout);
    files.push(file);
    const all = (pattern: RegExp) => [...stdout.matchAll(pattern)].map(([, found = '']) => found);
    const graces = all(/terminationGracePeriodSeconds: (\d+)/g).join();
    if (graces !== roles.map(({ grace }) => grace).join())
      throw new Error(`graces of ${name}: ${graces}`);
    const images = all(/^ {4}fund\/image: (\S+)$/gm);
    if (images.length !== roles.length || images.some((image) => !image.startsWith(IMAGE)))
      throw new Error(`images that the Deployments of ${name} note: ${images.join()}`);
    const secrets = all(/secretName: ([\w-]+)/g);
    const expected = [
      ...roles.map(({ secret }) => secret),
      ...(owned ? ['fund-admin', 'fund-owner'] : []),
    ];
    if (secrets.sort().join() !== expected.sort().join())
      throw new Error(`Secrets of ${name}: ${secrets.join()}`);
    const ports = all(/\{ name: ([\w-]+), containerPort: \d+ \}/g);
    if (ports.includes('sdk-metrics') !== roles.includes(worker))
      throw new Error(`ports of ${name}: ${ports.join()}`);
    const allowed = all(/- (?:ports: \[\{ )?port: ([a-z-]+)/g);
    const closed = ports.filter((port) => allowed.length > 0 && !allowed.includes(port));
    if (closed.length > 0)
      throw new Error(`ports of ${name} that its network policy closes: ${closed.join()}`);
    const releases = new Set(all(/app\.kubernetes\.io\/instance: (\S+)/g));
    if ([...releases].join() !== release)
      throw new Error(`releases that ${name} selects: ${[...releases].join()}`);
    named.set(name, all(/^ {2}name: (\S+)$/gm));
  }
  const shared = named.get('workers')?.filter((name) => named.get('example')?.includes(name)) ?? [];
  if (shared.length > 0) throw new Error(`two releases have the same ${shared.join()}`);
  return files;
}

function template(version: string, args: readonly string[], release = 'fund'): string[] {
  return ['template', release, CHART, '--kube-version', version, '--values', EXAMPLE, ...args];
}

/**
 * Checks that the chart refuses to replace the workers of a build with those of another one, or by
 * another image of the same build, over a server that has the release installed with the build `a`
 * and the tag `v1`.
 */
async function otherBuild(helm: string): Promise<void> {
  const env = [
    { name: 'SVC_TEMPORAL_DEPLOYMENT_NAME', value: 'workers' },
    { name: 'SVC_TEMPORAL_BUILD_ID', value: 'a' },
  ];
  const named = { name: 'fund-fund-worker' };
  const annotations = { 'fund/image': `${IMAGE}:v1` };
  /** What is installed: with a note of the image, which the cluster has rewritten, or without. */
  const releases = {
    noted: { metadata: { ...named, annotations }, image: 'mirror/v1' },
    unnoted: { metadata: named, image: `${IMAGE}:v1` },
  };
  let release: keyof typeof releases = 'noted';
  const deployment = (): object => {
    const { metadata, image } = releases[release];
    const spec = { template: { spec: { containers: [{ name: 'worker', image, env }] } } };
    return { kind: 'Deployment', apiVersion: 'apps/v1', metadata, spec };
  };
  const answers: Readonly<Record<string, () => object>> = {
    '/apis/apps/v1': () => ({
      ...{ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'apps/v1' },
      resources: [{ name: 'deployments', kind: 'Deployment', namespaced: true, verbs: ['get'] }],
    }),
    '/apis/apps/v1/namespaces/default/deployments/fund-fund-worker': deployment,
  };
  const server = createServer(({ url = '' }, response) => {
    const answer = answers[url.replace(/\?.*$/, '')]?.();
    const status = answer === undefined ? 404 : 200;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { kind: 'Status', apiVersion: 'v1', code: 404 }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const at = ['--kube-apiserver', `http://127.0.0.1:${String(port)}`, '--namespace', 'default'];
  // A machine's own cluster is left alone.
  const alone = { env: { ...process.env, KUBECONFIG: join(work, 'none') } };
  const still = 'would stand still';
  const digest = `sha256:${'0'.repeat(64)}`;
  const otherCode = (image: string): string =>
    `with the image ${IMAGE}:v1, and this would give the same build the image ${image}: `;
  /** What is set over the build `a`, and what a refusal says; null: accepted. */
  const refusal: Readonly<Record<string, string | null>> = {
    'settings.SVC_TEMPORAL_BUILD_ID=a': null,
    'settings.SVC_TEMPORAL_BUILD_ID=b': still,
    'settings.SVC_TEMPORAL_BUILD_ID=': still,
    'worker.settings.SVC_TEMPORAL_BUILD_ID=b': still,
    'settings.SVC_TEMPORAL_DEPLOYMENT_NAME=renamed': still,
    'settings.SVC_TEMPORAL_BUILD_ID=b,image.tag=v2': still,
    'settings.SVC_TEMPORAL_BUILD_ID=b,worker.replicas=0': null,
    'image.tag=v2': otherCode(`${IMAGE}:v2`),
    [`image.digest=${digest}`]: otherCode(`${IMAGE}@${digest}`),
    'image.tag=v2,worker.replicas=0': null,
  };
  const installed = [
    'settings.SVC_TEMPORAL_DEPLOYMENT_NAME=workers',
    'settings.SVC_TEMPORAL_BUILD_ID=a',
    'image.tag=v1',
  ].flatMap((each) => ['--set', each]);
  try {
    const tries = Object.entries(refusal).map((each) => ['noted', ...each] as const);
    for (const [installedAs, set, expected] of [
      ...tries,
      ['unnoted', 'image.tag=v2', otherCode(`${IMAGE}:v2`)] as const,
      ['unnoted', 'settings.SVC_TEMPORAL_BUILD_ID=a', null] as const,
    ]) {
      release = installedAs;
      const of = [...installed, '--set', set, '--dry-run=server', ...at];
      const stderr = await run(helm, template(KUBERNETES[0] ?? '', of), alone).then(
        () => null,
        (error: unknown) => (error as { readonly stderr?: string }).stderr ?? String(error),
      );
      if (expected === null ? stderr !== null : stderr?.includes(expected) !== true)
        throw new Error(`an upgrade of the build a with ${set}: ${stderr ?? 'was accepted'}`);
    }
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/**
 * Checks that pods mount the ConfigMap of their own files, which an upgrade to others leaves there,
 * and that a rollback makes again what was removed.
 */
async function otherFiles(helm: string): Promise<void> {
  const nameOf = async (args: readonly string[]): Promise<string> => {
    const { stdout } = await run(helm, template(KUBERNETES[0] ?? '', args));
    const resource = stdout.split(/^---$/m).find((each) => /^kind: ConfigMap$/m.test(each)) ?? '';
    const made = /^ {2}name: (\S+)$/m.exec(resource)?.[1] ?? '';
    if (!resource.includes('helm.sh/hook: pre-install,pre-upgrade,pre-rollback\n'))
      throw new Error(`Helm removes the ConfigMap ${made} in an upgrade`);
    const mounted = [...stdout.matchAll(/configMap: \{ name: (\S+) \}/g)].map(([, name]) => name);
    if (mounted.join() !== [made, made].join())
      throw new Error(`of the ConfigMap ${made} the pods mount ${mounted.join()}`);
    return made;
  };
  const name = await nameOf([]);
  const image = await nameOf(['--set', 'image.tag=v2']);
  if (image !== name) throw new Error(`another image has the files ${image} in place of ${name}`);
  const other = await nameOf(['--set', 'registry.executors[0].timeout_seconds=21']);
  if (other === name) throw new Error(`other files overwrite the ConfigMap ${name}`);
}

/** Checks that the chart refuses invalid values. */
async function refusals(helm: string): Promise<void> {
  const refused = [
    'image.repository=',
    'api.secretName=',
    'migrate.grantTo=',
    'settings.SVC_DATABASE_URL=postgresql://in-plain-sight',
    'settings.SVC_TEMPORAL_HEADERS=authorization=in-plain-sight',
    'settings.TEMPORAL_API_KEY=in-plain-sight',
    'settings.TEMPORAL_GRPC_META_AUTHORIZATION=in-plain-sight',
    'worker.settings.AWS_SECRET_ACCESS_KEY=in-plain-sight',
    // No program reads TEMPORAL_API_KEY_FILE.
    'worker.files.TEMPORAL_API_KEY=api-key',
    'worker.files.SVC_DATABASE_OWNER_URL=owner-url',
    'misspelt=1',
    'api.replicas=-1',
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
