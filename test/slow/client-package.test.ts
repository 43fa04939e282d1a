/**
 * The client as a package, in a folder that knows nothing of this clone: the program of its README
 * moves funds with it, and its types hold with Node's and with a browser's. What the same program
 * does in a browser is in test/browser.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ROOT } from '../../dev/stack/ports.ts';
import { installClient, type InstalledClient } from '../support/client-package.ts';
import { assertConsistent } from '../support/evidence.ts';
import { startOwnStack, type OwnStack } from '../support/own-stack.ts';

let room: string;
let client: InstalledClient;
let own: OwnStack;

beforeAll(async () => {
  room = mkdtempSync(join(tmpdir(), 'client-package-'));
  expect(relative(ROOT, room)).toMatch(/^\.\./);
  [client, own] = await Promise.all([installClient(room), startOwnStack()]);
}, 240_000);
afterAll(async () => {
  await own?.close();
  rmSync(room, { recursive: true, force: true });
});

test('it is named as this project, needs nothing, and imports nothing', () => {
  const read = (file: string) => readFileSync(join(client.library, file), 'utf8');
  const ours = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as object;
  const described = JSON.parse(read('package.json')) as object;
  const { version, license } = ours as { version: string; license: string };
  expect(described).toMatchObject({ version, license, private: true, dependencies: {} });
  expect(
    readdirSync(join(client.folder, 'node_modules')).filter((name) => name[0] !== '.'),
  ).toEqual(['fund-movement-client']);
  expect(readdirSync(join(client.library, 'lib'))).toEqual(['index.js']);
  const code = read('lib/index.js');
  expect(code).not.toMatch(/^import |\bimport\(|\brequire\(|['"]node:/m);
  expect(code).not.toMatch(/\b(?:process|Buffer)\b\./);
});

test('twenty lines create, approve and watch a movement', async () => {
  expect(client.program.length).toBeLessThanOrEqual(20);
  const { apiUrl, keys } = own.stack;
  const settings = {
    baseUrl: apiUrl,
    ...keys.operator,
    template_key: 'starter/withdraw-to-treasury',
    amount: '12.5',
  };
  writeFileSync(
    join(client.folder, 'main.js'),
    `import { move } from './movement.js';
const said = [];
const { movement_id, request_state } = await move(${JSON.stringify(settings)}, (text) => said.push(text));
console.log(JSON.stringify({ movement_id, request_state, said }));`,
  );
  const { code, stdout, stderr } = await client.run('main.js');
  expect([code, stderr]).toEqual([0, '']);
  const { movement_id, request_state, said } = JSON.parse(stdout) as {
    movement_id: string;
    request_state: string;
    said: readonly string[];
  };
  expect(request_state).toBe('COMPLETED');
  expect(said[0]).toBe('may move [{"asset":"USDC","amount":"12.5"}]');
  expect(said.at(-1)).toBe('COMPLETED');
  assertConsistent(await own.api.movement(movement_id), await own.api.timeline(movement_id));
}, 120_000);

test.each([
  ['node', ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules', '@types')]],
  ['a browser', ['--lib', 'es2022,dom,dom.iterable']],
])(
  'its types hold with those of %s, and find a wrong call',
  async (_, options) => {
    writeFileSync(
      join(client.folder, 'typed.ts'),
      `import { createClient, verifyCallback, type Movement } from 'fund-movement-client';
const client = createClient({ baseUrl: 'http://localhost:8100', key: { keyId: 'k', secret: 's' } });
export const seen: Promise<Movement> = client.movements.get('m');
export const event = verifyCallback('{}', new Headers(), 'secret');
// @ts-expect-error an amount is a text
void client.movements.create({ template_key: 'a', template_version: 1, intent: { asset: 'X', amount: 1 } });
`,
    );
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
    const target = ['--module', 'nodenext', '--target', 'es2022', '--noEmit'];
    const { code, stdout } = await client.run(tsc, ...strict, ...target, ...options, 'typed.ts');
    expect([stdout, code]).toEqual(['', 0]);
  },
  120_000,
);
