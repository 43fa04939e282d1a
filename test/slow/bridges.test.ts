/** Those who serve the bridges as processes that die, and a stack with all of them. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { built } from '../../dev/bootstrap/programs.mjs';
import { OMNI_TOKEN } from '../../dev/simulators/bridge/contracts/artifacts.ts';
import type { PacketView } from '../../dev/simulators/bridge/deliverer/deliveries.ts';
import { PACKET_FEE_WEI } from '../../dev/simulators/bridge/lanes.ts';
import { freePort } from '../../dev/stack/ports.ts';
import { ANY_FREE_PORTS, startStack } from '../../dev/stack/stack.ts';
import {
  PAYEE,
  approveBurns,
  ask,
  balance,
  burn,
  complete,
  endProgram,
  eventually,
  mintCall,
  omni,
  omniSend,
  post,
  startLanes,
  startProgram,
  usdb,
} from '../dev/bridge-stack.ts';
import { started } from '../support/started.ts';

const lanes = started(() => startLanes());
beforeAll(async () => {
  await approveBurns(lanes.near);
});

/** A part of the bridges on a port that it keeps. */
async function part(name: 'bridge-attester' | 'bridge-deliverer') {
  const port = await freePort();
  const start = () =>
    startProgram(name, {
      BRIDGE_PORT: String(port),
      BRIDGE_DIR: join(lanes.folder, name),
      BRIDGE_NEAR_RPC_URL: lanes.urls.near,
      BRIDGE_FAR_RPC_URL: lanes.urls.far,
    });
  return { url: `http://127.0.0.1:${String(port)}`, start };
}

test('the contracts compile to what is checked in', () => {
  const { status, stderr } = spawnSync(process.execPath, [built('contracts'), '--check'], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
}, 120_000);

test('an attester that is killed tells the same attestation afterwards', async () => {
  const { near, far } = lanes;
  const { url, start } = await part('bridge-attester');
  let child = await start();
  const terms = { maxFee: usdb('0.1'), threshold: 1000 } as const;
  const { transaction } = await burn(near, far, terms);
  const before = await complete(url, near, transaction);
  await post(`${url}/faults`, JSON.stringify({ lose_answer_rate: 1 }));
  const other = await burn(near, far, terms);
  await expect(ask(url, near, other.transaction)).rejects.toThrow('fetch failed');
  const { messages: signed } = (await (await fetch(`${url}/attestations`)).json()) as {
    messages: { attested: { message: string } | null }[];
  };
  await endProgram(child, 'SIGKILL');
  await expect(ask(url, near, transaction)).rejects.toThrow('fetch failed');
  child = await start();
  expect(await complete(url, near, transaction)).toEqual(before);
  const kept = await complete(url, near, other.transaction);
  expect(signed.map(({ attested }) => attested?.message)).toContain(kept.message);
  expect((await far.send(mintCall(far, kept.message, kept.attestation))).status).toBe('success');
  await endProgram(child, 'SIGKILL');
});

test('a deliverer that is killed goes on with what it has verified', async () => {
  const { near, far } = lanes;
  const { url, start } = await part('bridge-deliverer');
  let child = await start();
  await post(`${url}/faults`, JSON.stringify({ deliver: false }));
  await near.send(omniSend(near, far, omni('5'), PACKET_FEE_WEI));
  const packet = async (): Promise<PacketView | undefined> => {
    const answer = await fetch(`${url}/packets`);
    return ((await answer.json()) as { packets: PacketView[] }).packets[0];
  };
  await eventually(async () => ((await packet())?.status === 'verified' ? true : null));
  await endProgram(child, 'SIGKILL');
  expect(await balance(far, far.contracts.omniToken, PAYEE)).toBe(0n);
  child = await start();
  await eventually(async () => ((await packet())?.status === 'delivered' ? true : null));
  expect(await balance(far, far.contracts.omniToken, PAYEE)).toBe(omni('5'));
  await endProgram(child, 'SIGKILL');
});

test('a chain that starts again has the same contracts and balances', async () => {
  const { far } = lanes;
  const held = await balance(far, far.contracts.burnToken, PAYEE);
  expect(held).toBeGreaterThan(0n);
  await far.kill();
  await far.start();
  expect(await balance(far, far.contracts.burnToken, PAYEE)).toBe(held);
  expect(await far.client.getChainId()).toBe(far.chainId);
  const peer = { address: far.contracts.omniToken, abi: OMNI_TOKEN.abi } as const;
  const { eid, contracts } = lanes.near;
  const [read] = await Promise.all([
    far.client.readContract({ ...peer, functionName: 'peers', args: [eid] }),
  ]);
  expect(BigInt(read)).toBe(BigInt(contracts.omniToken));
});

test('a stack with bridges has both chains bound and served', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'bridge-stack-'));
  const stack = await startStack({
    settings: { dataDir, ports: ANY_FREE_PORTS },
    bridges: true,
    durable: false,
    log: () => undefined,
  });
  try {
    const { bridges } = stack;
    expect(Object.keys(stack.children)).toEqual(
      expect.arrayContaining(['chain', 'far-chain', 'bridge-attester', 'bridge-deliverer']),
    );
    const { venues } = JSON.parse(readFileSync(join(dataDir, 'config', 'venues.json'), 'utf8')) as {
      venues: { venue_key: string; cctp?: { domain: number } }[];
    };
    const domains = venues.flatMap(({ cctp }) => (cctp === undefined ? [] : [cctp.domain]));
    expect(domains).toEqual([bridges?.near.domain, bridges?.far.domain]);
    for (const url of [bridges?.attesterUrl, bridges?.delivererUrl])
      expect((await fetch(`${url ?? ''}/health`)).status).toBe(200);
    await stack.kill('bridge-attester');
    await stack.startChild('bridge-attester');
    await stack.kill('far-chain');
    await stack.startChild('far-chain');
  } finally {
    await stack.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}, 180_000);
