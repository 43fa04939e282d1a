/** What is laid out for production, and what is deployed around it. */
import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { layOutProduction } from '../../dev/bootstrap/production.mjs';
import { mayBeInImage } from '../../dev/image/contents.ts';
import { ROOT } from '../../dev/stack/ports.ts';

const run = promisify(execFile);
const root = mkdtempSync(join(tmpdir(), 'production-'));
const app = join(root, 'app');
beforeAll(() => {
  layOutProduction(app);
  symlinkSync(join(ROOT, 'node_modules'), join(app, 'node_modules'));
});
afterAll(() => rmSync(root, { recursive: true }));

test('production has the programs that it runs, and nothing of tests and development', () => {
  const files = readdirSync(app, { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.startsWith('node_modules'))
    .filter((file) => statSync(join(app, file)).isFile());
  const programs = files.filter((file) => /^dist\/(?!shared-|.*-code\.js)[\w-]+\.js$/.test(file));
  expect(programs.sort()).toEqual(
    ['executor', 'fundadmin', 'fundctl', 'main', 'workflows'].map((name) => `dist/${name}.js`),
  );
  expect(files.filter((file) => /\.ts$|^(dev|test|bench|examples)\//.test(file))).toEqual([]);
  // `npm run image:check` refuses what it does not know, and runs seldom.
  expect(files.filter((file) => !mayBeInImage(file))).toEqual([]);
  const maps = files.filter((file) => file.endsWith('.map'));
  expect(maps.length).toBeGreaterThan(50);
  for (const map of maps)
    expect(JSON.parse(readFileSync(join(app, map), 'utf8'))).not.toHaveProperty('sourcesContent');
  expect(() => layOutProduction(app)).toThrow(/is not empty/);
});

test.each([
  ['main.js', [], /The settings cannot be used:\n {2}- SVC_DATABASE_URL: must be set/],
  ['executor.js', ['--venue', 'main', '--venues-file', 'venues.json'], /--token-file is missing/],
  ['fundadmin.js', ['keys', 'list'], /SVC_DATABASE_URL/],
  ['fundctl.js', ['whoami', '--api-url', 'http://127.0.0.1:9'], /./],
])('%s finds there all that it loads', async (program, args, says) => {
  const env = { PATH: process.env['PATH'] ?? '' };
  const ended = run(process.execPath, [join(app, 'dist', program), ...args], { cwd: root, env });
  const error: unknown = await ended.then(
    () => null,
    (fault: unknown) => fault,
  );
  expect(error).not.toBeNull();
  const { stderr } = error as { readonly stderr: string };
  expect(stderr).toMatch(says);
  expect(stderr).not.toMatch(/ERR_MODULE_NOT_FOUND|Cannot find/);
});

test('every secret of the compose file is made once, and closed to others', async () => {
  const compose = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
  const named = [...compose.matchAll(/\{ file: \.\/deploy\/compose\/secrets\/(\w+) \}/g)];
  cpSync(join(ROOT, 'deploy/compose/make-secrets.sh'), join(root, 'make-secrets.sh'));
  const folder = join(root, 'secrets');
  const made = async () => {
    await run('sh', [join(root, 'make-secrets.sh')]);
    return readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
  };
  const first = await made();
  expect(first.map(([name]) => name).sort()).toEqual(named.map(([, name]) => name).sort());
  expect(new Set(first.map(([, content]) => content)).size).toBe(first.length);
  expect(await made()).toEqual(first);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test('what the compose file opens is on loopback', () => {
  const compose = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
  const ports = [...compose.matchAll(/^ +ports: \[(.+?)\]/gm)].flatMap(([, list = '']) =>
    list.split(', '),
  );
  expect(ports.length).toBeGreaterThan(4);
  for (const port of ports) expect(port).toMatch(/^'127\.0\.0\.1:/);
});
