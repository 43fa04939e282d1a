/**
 * The whole life of movements with `fundctl` alone: created, read, approved at a terminal,
 * followed, resolved when their outcome is unknown. And all commands that need a stack of their
 * own.
 */
import { spawn } from 'node:child_process';
import { generatePrivateKey } from 'viem/accounts';
import { findOnPath } from '../../dev/bootstrap/temporal-build.mjs';
import { built } from '../../dev/bootstrap/programs.mjs';
import { ROOT } from '../../dev/stack/ports.ts';
import { PERP_TEMPLATES } from '../../dev/stack/starter-templates.ts';
import {
  clientEnv,
  ELSEWHERE,
  JsonCommands,
  runFundctl,
  spawnFundctl,
  type Env,
  type Ran,
} from '../support/fundctl.ts';
import { eventually, ownStack } from '../support/own-stack.ts';

const GATED = 'starter/withdraw-with-gate';
let env: Env;
let json: JsonCommands;
const own = ownStack({
  perp: true,
  env: {
    SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: '1',
    SVC_UNPROVEN_ASK_SECONDS: '600',
    SVC_CAPITAL_TRANSFER_PENDING_TIMEOUT_SECONDS: '600',
  },
  localSigners: { old: generatePrivateKey(), next: generatePrivateKey() },
});
beforeAll(() => {
  env = clientEnv(own.stack.apiUrl, own.stack.keys.admin);
  json = new JsonCommands(env);
});

interface Movement {
  readonly movement_id: string;
  readonly request_state: string;
  readonly nodes: readonly {
    readonly node_key: string;
    readonly state: string;
    readonly error_code: string | null;
  }[];
}

/** What a person types, and after what of the program's words. */
type Steps = readonly (readonly [after: string, typed: string])[];

/** The built program on a terminal of its own. */
function onTerminal(args: readonly string[], steps: Steps): Promise<Ran> {
  const python = findOnPath('python3', process.env);
  if (python === null) throw new Error('this test needs python3 on PATH');
  const terminal = `${ROOT}/test/support/terminal.py`;
  const child = spawn(
    python,
    [terminal, JSON.stringify(steps), process.execPath, built('fundctl'), ...args],
    { env: { PATH: process.env.PATH, TERM: 'xterm-256color', ...env } },
  );
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  return new Promise((resolve) =>
    child.once('close', (status) => resolve({ status: status ?? -1, out, err })),
  );
}

const create = async (template: string, amount: string): Promise<string> => {
  const request = ['--template', template, '--asset', 'USDC', '--amount', amount];
  const { movement_id } = await json.run<Movement>('movements create', request);
  return movement_id;
};
const state = async (id: string): Promise<string> =>
  (await json.run<Movement>('movements show', [id])).request_state;
const reaches = (id: string, wanted: string): Promise<Movement> =>
  json.run<Movement>('movements watch', [id, '--until', wanted, '--timeout', '60']);
/** Created and approved, in a state. */
async function at(template: string, amount: string, wanted: string): Promise<string> {
  const id = await create(template, amount);
  await json.run('movements approve', [id, '--yes']);
  await reaches(id, wanted);
  return id;
}

test('a movement from its preview to its end, approved by a person at a terminal', async () => {
  const request = ['--template', GATED, '--asset', 'USDC', '--amount', '100'];
  const preview = await json.run('movements preview', request);
  expect(preview).toMatchObject({
    would_create: true,
    outflow: [{ asset: 'USDC', amount: '100' }],
  });
  const id = await create(GATED, '100');
  const plan = await spawnFundctl(env, ['movements', 'plan', id, '--raw']);
  expect(JSON.parse(plan.out)).toMatchObject({ intent: { asset: 'USDC', amount: '100' } });

  const refused = await onTerminal(['movements', 'approve', id], [['Approve this\\?', 'n\r']]);
  expect([refused.status, await state(id)]).toEqual([1, 'PENDING_APPROVAL']);
  const stopped = await onTerminal(['movements', 'approve', id], [['Approve this\\?', '\u0003']]);
  expect([stopped.status, await state(id)]).toEqual([130, 'PENDING_APPROVAL']);
  const approved = await onTerminal(
    ['movements', 'approve', id, '--approver', 'desk'],
    [['Approve this\\?', 'y\r']],
  );
  expect([approved.status, approved.out]).toEqual([0, expect.stringContaining('APPROVED')]);
  const { signer, treasury } = own.stack.chain.accounts;
  for (const part of ['100 USDC', signer.address, treasury.address, 'embedded stack'])
    expect(approved.out).toContain(part);
  for (const part of [
    'evm.transfer',
    'paper.withdrawal',
    'dev-treasury',
    preview['compiled_plan_hash'],
  ])
    expect(approved.out).toContain(part);
  // It is a terminal.
  expect(approved.out).toContain('\u001b[');

  const watched = await onTerminal(['movements', 'watch', id], [['resume', '\u0003']]);
  expect(watched.status).toBe(130);
  expect(watched.out).toContain('on_success');
  expect(await state(id)).toBe('WAITING_MANUAL_ACTION');
  const resumed = await onTerminal(['movements', 'resume', id], [['go on\\?', 'y\r']]);
  expect(resumed.status).toBe(0);
  expect(await reaches(id, 'COMPLETED')).toMatchObject({ approver_id: 'desk' });
  const { out } = await runFundctl(env, ['movements', 'timeline', id]);
  expect(out).toMatch(/request_approved[\s\S]*request_resumed[\s\S]*request_completed/);
}, 180_000);

test('another is cancelled at its gate, and what it has brought stays where it is', async () => {
  const id = await at(GATED, '200', 'WAITING_MANUAL_ACTION');
  const { status, out } = await spawnFundctl(env, ['movements', 'cancel', id, '--yes']);
  expect([status, out]).toEqual([0, expect.stringContaining('CANCELLED')]);
}, 120_000);

test('another is tried again when its executor is back', async () => {
  const why = ['paper.withdrawal', '--reason', 'maintenance', '--yes'];
  const other = await create(GATED, '4');
  await json.run('cutover set', ['--mode', 'frozen', '--reason', 'maintenance', '--yes']);
  await json.run('movements approve', [other, '--yes']);
  await json.run('executors disable', why);
  await json.run('cutover set', ['--mode', 'normal', '--reason', 'done', '--yes']);
  expect(
    await json.run('movements watch', [other, '--timeout', '60'], { status: 1 }),
  ).toMatchObject({
    request_state: 'FAILED',
    error_code: 'EXECUTOR_DISABLED',
  });
  await json.run('executors enable', why);
  await json.run('movements retry', [other, '--yes']);
  await reaches(other, 'WAITING_MANUAL_ACTION');
}, 180_000);

test('the outcome of a third is unknown, and a person resolves it', async () => {
  await runFundctl(env, ['templates', 'create', '--file', '-'], JSON.stringify(impatient()));
  await own.venueFaults({ lose_answer_rate: 1, phases: ['submit', 'recover'] });
  const id = await at('desk/impatient', '5', 'MANUAL_INTERVENTION');
  const { out } = await runFundctl(env, ['movements', 'show', id]);
  expect(out).toContain(`fundctl movements retry ${id}`);
  const word = [
    id,
    'withdraw',
    '--outcome',
    'completed',
    '--reason',
    'on the statement',
    '--evidence',
    'statement=2026-11',
    '--evidence',
    'line=17',
    '--yes',
  ];
  const early = await runFundctl(env, ['movements', 'resolve', ...word]);
  expect([early.status, early.err]).toEqual([3, expect.stringContaining('send_not_over')]);
  // As if an hour had gone by.
  await own.query(
    `UPDATE movement_nodes SET send_not_after = now() - interval '1 hour' WHERE movement_id = $1`,
    [id],
  );
  await json.run('movements resolve', word);
  await own.venueFaults(null);
  await reaches(id, 'COMPLETED');
}, 120_000);

/** A withdrawal that becomes UNKNOWN at the first lost answer. */
function impatient(): object {
  return {
    template_key: 'desk/impatient',
    version: 1,
    name: 'Unknown at once',
    edges: [],
    nodes: [
      {
        node_key: 'withdraw',
        node_kind: 'action',
        action_type: 'cex_withdrawal',
        executor_selector: { action_type: 'cex_withdrawal', provider: 'paper' },
        has_side_effect: true,
        retry_policy: { max_attempts: 1 },
        config: {
          venue: 'paper-sub-b',
          asset: 'USDC',
          network: 'local',
          destination_address: own.stack.chain.accounts.treasury.address,
        },
      },
    ],
    completion_policy: { completion_assurance: 'provider_completed' },
  };
}

/** It is signed by the loop that tends lanes, which on a busy machine comes late. */
const OF_ITS_LANE = { timeoutMs: 80_000, what: () => 'the transaction that takes its nonce' };

test('a transaction that is not mined is called off', async () => {
  await own.chainFaults({ mining: 'paused' });
  try {
    const id = await create('starter/treasury-transfer', '2');
    await json.run('movements approve', [id, '--yes']);
    await eventually(async () => {
      const { nodes } = await json.run<Movement>('movements show', [id]);
      return nodes.some((node) => node.state === 'OBSERVING') ? true : null;
    });
    const why = ['--reason', 'not worth its fee', '--yes'];
    await json.run('movements cancel-transaction', [id, 'sweep', ...why]);
    // No block is made before an endpoint has the transfer of the signer to itself that uses up the
    // payment's nonce: a block between its signing and its sending would hold the payment.
    await eventually(async () => {
      const kinds = await own.query<{ kind: string }>(
        'SELECT kind FROM evm_transactions WHERE movement_id = $1::uuid AND accepted_at IS NOT NULL',
        [id],
      );
      return kinds.some(({ kind }) => kind === 'cancel') ? true : null;
    }, OF_ITS_LANE);
    await own.chainFaults({ mining: 'automatic' });
    await eventually(async () => {
      const { nodes } = await json.run<Movement>('movements show', [id]);
      const node = nodes.find(({ node_key }) => node_key === 'sweep');
      return node?.error_code === 'TRANSACTION_CANCELLED' ? true : null;
    });
  } finally {
    await own.chainFaults({ mining: 'automatic' });
  }
}, 120_000);

test('a transfer that its provider does not confirm is resolved', async () => {
  const faults = { transfer_outcome: 'pending', phases: ['transfer_submit'] };
  await own.venueFaults(faults);
  try {
    const made = await json.run<{ transfer_id: string }>('transfers create', [
      '--from',
      'paper-main',
      '--to',
      'paper-sub-a',
      '--asset',
      'USDT',
      '--amount',
      '10',
      '--reason',
      'margin',
      '--yes',
    ]);
    await eventually(async () => {
      const shown = await json.run('transfers show', [made.transfer_id]);
      return shown['request_state'] === 'PENDING_PROVIDER_CONFIRMATION' ? true : null;
    });
    expect(
      await json.run('transfers resolve', [
        made.transfer_id,
        '--resolution',
        'completed',
        '--reason',
        'on the statement',
        '--yes',
      ]),
    ).toMatchObject({ request_state: 'COMPLETED' });
  } finally {
    await own.venueFaults(null);
  }
}, 120_000);

test('a signer is pinned, drilled, rotated and retired', async () => {
  const signers = async () => {
    const { out } = await runFundctl(env, ['signers', 'list', '--output', 'json']);
    return JSON.parse(out) as { signer_key: string; observed_signer_address: string | null }[];
  };
  const addressOf = (key: string): Promise<string> =>
    eventually(
      async () =>
        (await signers()).find((each) => each.signer_key === key)?.observed_signer_address ?? null,
    );
  const why = ['--reason', 'a test', '--yes'];
  for (const key of ['old', 'next'])
    await json.run('signers pin', [key, await addressOf(key), ...why]);
  await json.run('signers disable', ['next', ...why]);
  await json.run('signers enable', ['next', ...why]);
  expect(await json.run('signers rotate', ['old', 'next', '--drill', ...why])).toMatchObject({
    outcome: 'drilled',
  });
  expect((await runFundctl(env, ['signers', 'rotate', 'old', 'next', ...why])).status).toBe(2);
  await json.run('signers rotate', ['old', 'next', '--ack-impact', ...why]);
  await json.run('signers retire', ['old', '--yes']);
}, 120_000);

test('a strategy at the perps venue', async () => {
  const { account } = own.stack.perp!;
  await json.run('perps set-master', [account, 'dev-treasury', '--network', 'testnet', '--yes']);
  await json.run('perps bind', ['desk', '--max-agent-balance', '1000', '--yes']);
  // The venue knows an account once something was paid into it.
  await at(PERP_TEMPLATES.deposit, '50', 'COMPLETED');
  await json.run('perps add-agent', ['desk', 'desk-1', '--signer', 'next', '--yes']);
  await eventually(async () => {
    const agents = await json.run<readonly { state: string }[]>('perps agents', ['desk']);
    return agents[0]?.state === 'active' ? true : null;
  });
  await json.run('perps top-up', [
    'desk',
    'desk-1',
    '--asset',
    'USDC',
    '--amount',
    '10',
    '--reason',
    'margin',
    '--yes',
  ]);
  await json.run('perps pause', ['desk', '--reason', 'looks odd']);
  await json.run('perps unpause', ['desk', '--reason', 'was nothing', '--yes']);
  await json.run('perps show', ['desk']);
  await json.run('perps emergency', ['desk']);
}, 120_000);

test('a smoke test, and a callback to an endpoint that is down', async () => {
  const venue = ['--template', 'starter/withdraw-to-treasury', '--asset', 'USDC', '--amount'];
  const much = await runFundctl(env, ['smoke', ...venue, '5.01', '--yes']);
  expect([much.status, much.err]).toEqual([2, expect.stringContaining('at most 5')]);
  expect(await json.run('smoke', [...venue, '1', '--yes'])).toMatchObject({ passed: true });

  const url = ['--callback-url', 'http://127.0.0.1:9/'];
  const request = ['--template', GATED, '--asset', 'USDC', '--amount', '1', ...url];
  const { movement_id: id } = await json.run<Movement>('movements create', request);
  await json.run('movements reject', [id, '--yes']);
  const [dead] = await eventually(async () => {
    const { callbacks } = await json.run<{ callbacks: readonly { event_id: string }[] }>(
      'callbacks list',
      ['--movement', id, '--status', 'dead_letter'],
    );
    return callbacks.length > 0 ? callbacks : null;
  });
  await json.run('callbacks redeliver', [dead?.event_id ?? '']);
}, 120_000);

test('every command that test/http leaves out was run', () => {
  expect(ELSEWHERE.filter((path) => !json.covered.has(path))).toEqual([]);
});
