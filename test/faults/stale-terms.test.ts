/** A venues file that changes between a burn's prepare and its send. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPublicClient, createWalletClient, erc20Abi, http, maxUint256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { burnAndMint } from '../support/bridge-plans.ts';
import { openHeldRpc } from '../support/held-rpc.ts';
import { eventually, MovementApi, ownStack } from '../support/own-stack.ts';
import { startServiceProcess, type ServiceProcess } from '../support/service-process.ts';

const own = ownStack({ bridges: true, service: false });
const processes: ServiceProcess[] = [];
afterEach(async () => {
  for (const each of processes.splice(0)) {
    each.signal('SIGKILL');
    await each.ended;
  }
});

async function start(change: (venues: string) => string = (venues) => venues) {
  const file = join(own.stack.dataDir, `venues-${String(processes.length)}.json`);
  writeFileSync(file, change(readFileSync(own.stack.env['SVC_VENUES_FILE'] ?? '', 'utf8')));
  const running = await startServiceProcess(own.stack, 'all', {
    // Nothing but the fence counts the account's transactions meanwhile.
    settings: { SVC_VENUES_FILE: file, SVC_REGISTRY_HEALTH_INTERVAL_SECONDS: '600' },
  });
  processes.push(running);
  return { running, api: new MovementApi(running.apiUrl, own.stack.keys.admin) };
}

async function stop(running: ServiceProcess): Promise<void> {
  running.signal('SIGTERM');
  expect(await running.ended).toBe(0);
}

/** Lets the messenger pull the tokens of the account that signs. */
async function allow(): Promise<void> {
  const { chain, bridges } = own.stack;
  const transport = http(chain.rpcUrl);
  const account = privateKeyToAccount(chain.accounts.signer.privateKey);
  const { burnToken, tokenMessenger } = bridges!.near.contracts;
  const hash = await createWalletClient({ account, transport }).writeContract({
    ...{ chain: null, address: burnToken, abi: erc20Abi },
    ...{ functionName: 'approve', args: [tokenMessenger, maxUint256] },
  });
  await createPublicClient({ transport }).waitForTransactionReceipt({ hash });
}

test('a burn that was prepared under other venue entries is not sent, and its retry is', async () => {
  const { chain, bridges } = own.stack;
  const { near, far } = bridges!;
  await allow();
  const rpc = await openHeldRpc(chain.rpcUrl);
  try {
    const first = await start((venues) => venues.replaceAll(chain.rpcUrl, rpc.url));
    const payee = chain.accounts.treasury.address;
    const key = 'test/burn';
    const plan = burnAndMint({
      ...{ key, from: near, to: far, payee },
      ...{ finality: 'fast', allowed: true },
    });
    await first.api.expect(201, 'POST', '/plan-templates', plan);
    const made = await first.api.create(key, { amount: '9', intent: { asset: 'USDB' } });
    rpc.hold('eth_getTransactionCount');
    await first.api.approve(made);
    await eventually(async () => (rpc.held() > 0 ? true : null), {
      what: () => 'the fence to ask for the nonce',
    });
    first.running.signal('SIGTERM');
    await eventually(
      async () => ((await first.running.readiness())?.status === 'draining' ? true : null),
      { everyMs: 20, what: () => 'readiness to say draining' },
    );
    rpc.hold(null);
    expect(await first.running.ended).toBe(0);
    const burn = async () =>
      (
        await own.query<Record<string, unknown>>(
          `SELECT state, attempt, error_code, error_message, prepared_action IS NOT NULL AS prepared
           FROM movement_nodes WHERE movement_id = $1 AND node_key = 'burn'`,
          [made.movement_id],
        )
      )[0];
    expect(await burn()).toMatchObject({ state: 'READY', attempt: 1, prepared: true });

    // Where the mint arrives: nothing in the signed bytes of the burn names it.
    const { messageTransmitter, omniToken } = far.contracts;
    const second = await start((venues) => venues.replaceAll(messageTransmitter, omniToken));
    await second.api.reaches(made.movement_id, 'FAILED');
    expect(await burn()).toMatchObject({
      ...{ state: 'FAILED', attempt: 1, error_code: 'VENUE_ENTRY_CHANGED' },
      error_message: expect.stringMatching(/^nothing was sent: .*retry the node/),
    });
    expect(await own.query('SELECT FROM evm_transactions')).toEqual([]);
    await stop(second.running);

    const third = await start();
    await third.api.act('retry', made.movement_id);
    await third.api.reaches(made.movement_id, 'COMPLETED', 120_000);
    expect(await burn()).toMatchObject({ state: 'COMPLETED', attempt: 2, error_code: null });
  } finally {
    await rpc.close();
  }
}, 360_000);
