/**
 * Workflow code holds nothing whose answer could differ in a replay: the bundle is looked into, and
 * the sources.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { workflowBundle } from '../../activities/bundle.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
/** All that may be in the sandbox beside domain/ and workflows/: the SDK and what it brings. */
const SDK_PACKAGES = ['@temporalio/common', '@temporalio/workflow', 'long', 'ms', 'nexus-rpc'];
/**
 * The bundler's stand-ins for what the SDK may refer to and a workflow may not use; they hold no
 * code.
 */
const EMPTY = /^\?[0-9a-f]+$/;

let code: string;
let modules: string[];

beforeAll(() => {
  ({ code } = workflowBundle());
  modules = [...code.matchAll(/^\/\*{3}\/ "([^"]+)"/gm)].map(([, path]) => path ?? '');
});

function packageOf(path: string): string | undefined {
  return /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
}

describe('the workflow bundle', () => {
  test('holds our workflows, of our own code nothing but domain/ and workflows/, and of others the SDK alone', () => {
    const ours = modules.filter((path) => !path.includes('node_modules') && !EMPTY.test(path));
    expect(ours).toEqual(
      expect.arrayContaining([
        './workflows/index.ts',
        './workflows/movement.ts',
        './domain/graph/walk.ts',
      ]),
    );
    expect(ours.filter((path) => !/^\.\/(domain|workflows)\//.test(path))).toEqual([]);
    const packages = new Set(modules.map(packageOf).filter((name) => name !== undefined));
    expect([...packages].filter((name) => !SDK_PACKAGES.includes(name))).toEqual([]);
  });

  test('holds no module of Node, no database, no HTTP and no chain', () => {
    const banned =
      /prisma|\/pg\/|express|viem|undici|pino|\/(activities|store|platform|executors|venues|signers|api|dev)\/[^"]*\.ts/;
    expect(modules.filter((path) => !path.includes('@temporalio/') && banned.test(path))).toEqual(
      [],
    );
    const required = [...code.matchAll(/(?<![\w.$])require\(["']([^"']+)["']\)/g)]
      .map(([, name]) => name ?? '')
      .filter(isBuiltin);
    expect(required).toEqual([]);
    expect(
      modules.filter(
        (path) => isBuiltin(path) || path.startsWith('external') || path.startsWith('node:'),
      ),
    ).toEqual([]);
  });

  test('keeps our object spreads and class fields as they are written', () => {
    const helper = /\b_(?:object_spread|define_property|object_without_properties)\w*\(/.exec(code);
    expect(helper?.[0] ?? null).toBe(null);
    expect(/\{\s*\.\.\.view,/.test(code)).toBe(true);
  });
});

interface Import {
  readonly file: string;
  readonly from: string;
  readonly typeOnly: boolean;
}

function importsOf(folder: string): Import[] {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts'),
  );
  return files.flatMap((name) => {
    const path = join(ROOT, folder, name);
    const text = readFileSync(path, 'utf8');
    const found = text.matchAll(
      /^(?:import|export)\s+(type\s)?(?:[^;'"]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm,
    );
    return [...found].map(([, type, named, dynamic]) => {
      const from = named ?? dynamic ?? '';
      const target = from.startsWith('.') ? relative(ROOT, join(dirname(path), from)) : from;
      return { file: relative(ROOT, path), from: target, typeOnly: type !== undefined };
    });
  });
}

describe('the sources', () => {
  test('of domain/ import domain/ alone, and of packages those that only reckon', () => {
    const allowed = /^domain\/|^(decimal\.js|canonicalize|zod|@marcbachmann\/cel-js)$/;
    expect(importsOf('domain').length).toBeGreaterThan(20);
    expect(importsOf('domain').filter(({ from }) => !allowed.test(from))).toEqual([]);
  });

  test('of workflows/ import domain/, the SDK, and activities as types', () => {
    const allowed = ({ from, typeOnly }: Import): boolean =>
      /^(domain|workflows)\/|^@temporalio\/(workflow|common)$/.test(from) ||
      (typeOnly && from.startsWith('activities/'));
    expect(importsOf('workflows').length).toBeGreaterThan(5);
    expect(importsOf('workflows').filter((each) => !allowed(each))).toEqual([]);
  });
});
