/** A port belongs to one process for as long as that lives, also while nothing listens on it. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { claimPort } from '../../dev/bootstrap/port-claims.mjs';
import { ROOT } from '../../dev/stack/ports.ts';

const PORTS = 60;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'port-claims-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A process that asks for every port, and lives until its input ends. */
const ASKS = `
  const { claimPort } = await import(${JSON.stringify(join(ROOT, 'dev/bootstrap/port-claims.mjs'))});
  const [folder, ports] = process.argv.slice(1);
  const got = [];
  for (let port = 0; port < Number(ports); port += 1) if (claimPort(port, folder)) got.push(port);
  console.log(JSON.stringify(got));
  process.stdin.resume();
`;

async function asks(): Promise<{ got: number[]; end: () => Promise<unknown> }> {
  const args = ['--input-type=module', '-e', ASKS, folder, String(PORTS)];
  const running = promisify(execFile)(process.execPath, args);
  const got = await new Promise<number[]>((resolve, reject) => {
    running.child.stdout?.once('data', (text: Buffer) =>
      resolve(JSON.parse(text.toString()) as number[]),
    );
    running.catch(reject);
  });
  return { got, end: async () => (running.child.stdin?.end(), running) };
}

test('processes that claim at the same time get no port twice; a port is free once its process ended', async () => {
  const four = await Promise.all([asks(), asks(), asks(), asks()]);
  const claimed = four.flatMap(({ got }) => got);
  expect(new Set(claimed).size).toBe(claimed.length);
  for (const port of claimed) expect(claimPort(port, folder)).toBe(false);
  await Promise.all(four.map(({ end }) => end()));
  for (const port of claimed) expect(claimPort(port, folder)).toBe(true);
});

test('one process does not claim a port twice either', () => {
  writeFileSync(join(folder, 'something else'), '');
  expect([claimPort(1, folder), claimPort(1, folder), claimPort(2, folder)]).toEqual([
    true,
    false,
    true,
  ]);
});
