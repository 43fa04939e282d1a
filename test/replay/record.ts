/**
 * Records the replay corpus: `npm run replay:record -- [scenario …]`. Each scenario runs for real
 * on a stack of its own; the histories of its runs go to `histories/<version>-<scenario>.json`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { WayToLeave } from '../../domain/builds.ts';
import {
  capitalTransferWorkflowId,
  LEAVE_BUILD_SIGNAL,
  movementWorkflowId,
} from '../../domain/messages.ts';
import { pending, type DefinedExecutor } from '../../executor-kit/define.ts';
import { runExecutorWorker } from '../../executor-kit/task-queue.ts';
import { memoryExecutor } from '../executor-kit/support/memory-executor.ts';
import { buildsOf, DEPLOYMENT, promote, settingsOf } from '../support/builds.ts';
import {
  eventually,
  startOwnStack,
  WITHDRAW_TO_TREASURY,
  type Created,
  type OwnStack,
} from '../support/own-stack.ts';
import { bridgeTemplates, CHECKED_MINT, GATED_MINT } from './bridge-templates.ts';
import {
  forbiddenIn,
  HISTORIES,
  historyFile,
  readable,
  SCENARIOS,
  toPlain,
  unnamed,
  type RecordedRun,
  type Scenario,
  type ScenarioName,
} from './scenarios.ts';

const GATE = 'starter/withdraw-with-gate';
const WRONG_NETWORK = 'replay/wrong-network';
const WITH_COMPENSATION = 'replay/with-compensation';
const UNFORGIVING = 'replay/unforgiving';
const CHAIN = 'replay/chain';
const LANES = 'replay/lanes';
const CONDITION = 'replay/condition';
const TEAM = 'replay/team';
const TEAM_LANES = 'replay/team-lanes';
const TEAM_QUEUE = 'replay team';
/** Events after which the server of `shortHistories` asks for a new run. */
const SHORT = 60;
/** How long a burn, or a mint, may take. */
const BRIDGE_MS = 240_000;
/** The build of the workers of `versioned`. */
const BUILD = 'recorded';

interface Transfer {
  readonly transfer_id: string;
}
type Drive = (own: OwnStack, amount: string) => Promise<Created | Transfer>;

const DRIVES: Record<ScenarioName, Drive> = {
  'approve-and-complete': async (own, amount) => {
    const movement = await approved(own, WITHDRAW_TO_TREASURY, amount);
    await own.api.reaches(movement.movement_id, 'COMPLETED');
    return movement;
  },
  reject: async (own, amount) => {
    const movement = await own.api.create(WITHDRAW_TO_TREASURY, { amount });
    // Only once its run waits, so that the signal is part of the story.
    await runIs(own, movement, 'RUNNING');
    await own.api.expect(200, 'POST', `/movements/${movement.movement_id}/reject`, {});
    return movement;
  },
  expire: async (own, amount) => {
    const movement = await own.api.create(WITHDRAW_TO_TREASURY, { amount, ttl: 2 });
    await own.api.reaches(movement.movement_id, 'EXPIRED');
    return movement;
  },
  'preflight-failure': async (own, amount) => {
    const movement = await approved(own, WRONG_NETWORK, amount);
    await own.api.reaches(movement.movement_id, 'FAILED');
    return movement;
  },
  'gate-and-resume': async (own, amount) => {
    const movement = await approved(own, GATE, amount);
    await own.api.reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
    await own.api.act('resume', movement.movement_id);
    await own.api.reaches(movement.movement_id, 'COMPLETED');
    return movement;
  },
  cancel: async (own, amount) => {
    await own.chainFaults({ mining: 'paused' });
    const movement = await approved(own, WITH_COMPENSATION, amount);
    await own.api.nodeReaches(movement.movement_id, 'withdraw', ['OBSERVING']);
    await own.api.act('cancel', movement.movement_id);
    await own.chainFaults({ mining: 'automatic' });
    await own.api.nodeReaches(movement.movement_id, 'undo', ['COMPLETED']);
    return movement;
  },
  'recover-after-lost-answer': async (own, amount) => {
    await own.venueFaults({ lose_answer_rate: 1, phases: ['submit'], remaining: 1 });
    const movement = await approved(own, WITHDRAW_TO_TREASURY, amount);
    await own.api.reaches(movement.movement_id, 'COMPLETED');
    return movement;
  },
  'recover-to-unknown-and-resume': async (own, amount) => {
    await own.venueFaults({ lose_answer_rate: 1, phases: ['submit', 'recover'] });
    const movement = await approved(own, UNFORGIVING, amount);
    await own.api.reaches(movement.movement_id, 'MANUAL_INTERVENTION');
    await own.venueFaults(null);
    await own.api.act('resume', movement.movement_id);
    await own.api.reaches(movement.movement_id, 'COMPLETED');
    return movement;
  },
  'failed-and-retried': async (own, amount) => {
    await own.api.expect(200, 'PATCH', '/executors/evm.transfer', { status: 'disabled' });
    const movement = await approved(own, WITHDRAW_TO_TREASURY, amount);
    await own.api.reaches(movement.movement_id, 'FAILED');
    await runIs(own, movement, 'FAILED');
    await own.api.expect(200, 'PATCH', '/executors/evm.transfer', { status: 'active' });
    await own.api.act('retry', movement.movement_id);
    await own.api.reaches(movement.movement_id, ['COMPLETED']);
    return movement;
  },
  'modules-in-a-chain': (own, amount) => completed(own, CHAIN, amount),
  'lanes-and-join': (own, amount) => completed(own, LANES, amount),
  'condition-chooses': (own, amount) => completed(own, CONDITION, amount),
  'executor-of-a-team': (own, amount) =>
    withTeam(own, memoryExecutor(), () => completed(own, TEAM, amount)),
  // Six at once, so that answers of several come together.
  'lanes-of-a-team': (own, amount) =>
    withTeam(own, memoryExecutor(), () => completed(own, TEAM_LANES, amount)),
  // The venue refuses its first submit without a trace: proven not landed, and sent once more after
  // a pause.
  'sent-again': async (own, amount) => {
    await own.venueFaults({ error_rate: 1, phases: ['submit'], remaining: 1 });
    const movement = await completed(own, WITHDRAW_TO_TREASURY, amount);
    const sends = (await own.api.timeline(movement.movement_id)).filter(
      (event) => event.event_type === 'node_submitting',
    );
    if (sends.length !== 3)
      throw new Error(`there were ${String(sends.length)} sends of two nodes, not one more`);
    return movement;
  },
  'unknown-heals-by-itself': async (own, amount) => {
    await own.venueFaults({ lose_answer_rate: 1, phases: ['submit', 'recover'] });
    const movement = await approved(own, UNFORGIVING, amount);
    await own.api.reaches(movement.movement_id, 'MANUAL_INTERVENTION');
    await own.venueFaults(null);
    await own.api.reaches(movement.movement_id, 'COMPLETED', 180_000);
    return movement;
  },
  // Observed until a second run does it.
  'continued-as-new': async (own, amount) => {
    let follows = false;
    const slow = memoryExecutor((_payments, sound) => ({
      observe: (context, call) =>
        follows ? sound.observe(context, call) : Promise.resolve(pending(0.2)),
    }));
    return withTeam(own, slow, async () => {
      const movement = await approved(own, TEAM, amount);
      const first = await runIs(own, movement, 'RUNNING');
      await eventually(async () =>
        (await own.runOf(movement.movement_id))?.run_id === first.run_id ? null : true,
      );
      follows = true;
      await own.api.reaches(movement.movement_id, 'COMPLETED');
      return movement;
    });
  },
  'left-its-build': (own, amount) => leaves(own, amount, 'continue'),
  'restarted-for-a-build': (own, amount) => leaves(own, amount, 'restart'),
  'capital-transfer': (own, amount) => transferred(own, amount, 'COMPLETED'),
  // Sent, its answer lost, looked for until a person has to decide, and then resolved.
  'capital-transfer-lost-and-resolved': async (own, amount) => {
    // No look gets an answer either: what its provider has shown could not be called failed.
    await own.venueFaults({ error_rate: 1, phases: ['transfer_submit', 'transfer_find'] });
    const transfer = await transferred(own, amount, 'MANUAL_INTERVENTION');
    const path = `/capital-transfers/${transfer.transfer_id}/actions/resolve`;
    const says = (resolution: string) =>
      own.api.send('POST', path, { resolution, reason: 'recorded' });
    await says('manual_intervention');
    await eventually(async () => ((await says('failed')).status === 200 ? true : null));
    await own.venueFaults(null);
    return transfer;
  },
  // No path leads to the mint once the check has failed, but the funds are in transit. A release
  // before 0.5.0 skips the mint, and also comes to the end here.
  'mint-past-failed-check': async (own, amount) => {
    const movement = await approved(own, CHECKED_MINT, amount, 'USDB');
    const { movement_id } = movement;
    await own.api.reaches(movement_id, 'WAITING_MANUAL_ACTION', BRIDGE_MS);
    await own.api.nodeReaches(movement_id, 'mint', ['COMPLETED', 'SKIPPED'], BRIDGE_MS);
    // Resumed only then: beside a waiting gate the run decides what follows the mint, else the
    // mint's activity.
    await own.api.nodeReaches(movement_id, 'after', ['SKIPPED']);
    await own.api.act('resume', movement_id);
    await own.api.reaches(movement_id, 'COMPLETED');
    return movement;
  },
  // The mint goes on after a cancel, fails before it sends, and is retried by a run of its own.
  'mint-after-cancel-retried': async (own, amount) => {
    const movement = await approved(own, GATED_MINT, amount, 'USDB');
    await own.api.reaches(movement.movement_id, 'WAITING_MANUAL_ACTION', BRIDGE_MS);
    await own.api.expect(200, 'PATCH', '/executors/cctp.mint', { status: 'disabled' });
    await own.api.act('cancel', movement.movement_id);
    await own.api.nodeReaches(movement.movement_id, 'mint', ['FAILED']);
    await runIs(own, movement, 'COMPLETED');
    await own.api.expect(200, 'PATCH', '/executors/cctp.mint', { status: 'active' });
    await own.api.act('retry', movement.movement_id);
    await own.api.nodeReaches(movement.movement_id, 'mint', ['COMPLETED'], BRIDGE_MS);
    return movement;
  },
};

/** Leaves its build at a gate. On a single build the next run is on the same one. */
async function leaves(own: OwnStack, amount: string, by: WayToLeave): Promise<Created> {
  const movement = await approved(own, GATE, amount);
  await own.api.reaches(movement.movement_id, 'WAITING_MANUAL_ACTION');
  const first = await runIs(own, movement, 'RUNNING');
  await own.temporal.workflow
    .getHandle(movementWorkflowId(movement.movement_id))
    .signal(LEAVE_BUILD_SIGNAL, { deployment: DEPLOYMENT, build: BUILD, by });
  await eventually(async () => {
    const run = await own.runOf(movement.movement_id);
    return run?.run_id !== first.run_id && run?.status === 'RUNNING' ? true : null;
  });
  await own.api.act('resume', movement.movement_id);
  await own.api.reaches(movement.movement_id, 'COMPLETED');
  return movement;
}

async function withTeam<T>(
  own: OwnStack,
  executor: DefinedExecutor,
  work: () => Promise<T>,
): Promise<T> {
  const worker = await runExecutorWorker(executor, {
    address: own.stack.temporalAddress,
    namespace: 'default',
    taskQueue: TEAM_QUEUE,
  });
  try {
    return await work();
  } finally {
    await worker.stop();
  }
}

async function transferred(own: OwnStack, amount: string, state: string): Promise<Transfer> {
  const made = await own.api.expect(201, 'POST', '/capital-transfers', {
    source_venue: 'paper-main',
    destination_venue: 'paper-sub-a',
    asset: 'USDT',
    amount,
    reason: 'recorded',
    idempotency_key: randomUUID(),
  });
  const transfer_id = String(made['transfer_id']);
  const path = `/capital-transfers/${transfer_id}`;
  await eventually(
    async () => ((await own.api.expect(200, 'GET', path))['request_state'] === state ? true : null),
    {
      what: () => `the transfer to be ${state}`,
    },
  );
  return { transfer_id };
}

async function completed(own: OwnStack, template: string, amount: string): Promise<Created> {
  const movement = await approved(own, template, amount);
  await own.api.reaches(movement.movement_id, 'COMPLETED');
  return movement;
}

async function approved(
  own: OwnStack,
  template: string,
  amount: string,
  asset = 'USDC',
): Promise<Created> {
  const movement = await own.api.create(template, { amount, intent: { asset } });
  await own.api.approve(movement);
  return movement;
}

function runIs(
  own: OwnStack,
  { movement_id }: Created,
  status: string,
): Promise<{ run_id: string }> {
  return eventually(
    async () => {
      const run = await own.runOf(movement_id);
      return run?.status === status ? run : null;
    },
    { what: () => `the run to be ${status}` },
  );
}

async function createTemplates({ api, stack }: OwnStack): Promise<void> {
  const withdraw = (network: string, more: object = {}) => ({
    node_key: 'withdraw',
    node_kind: 'action',
    action_type: 'cex_withdrawal',
    executor_selector: { action_type: 'cex_withdrawal', provider: 'paper' },
    has_side_effect: true,
    config: {
      venue: 'paper-main',
      asset: 'USDC',
      network,
      destination_address: stack.chain.accounts.signer.address,
    },
    ...more,
  });
  const undo = { node_key: 'undo', node_kind: 'compensation', action_type: 'noop' };
  const template = (
    template_key: string,
    nodes: readonly object[],
    edges: readonly object[],
    completion_assurance = 'destination_finalized',
  ) =>
    api.expect(201, 'POST', '/plan-templates', {
      template_key,
      version: 1,
      name: template_key,
      nodes,
      edges,
      completion_policy: { completion_assurance },
    });
  await template(WRONG_NETWORK, [withdraw('nowhere')], []);
  await template(
    WITH_COMPENSATION,
    [withdraw('local'), undo],
    [{ from: 'withdraw', to: 'undo', edge_type: 'on_cancel' }],
  );
  const noop = (node_key: string) => ({
    node_key,
    node_kind: 'action',
    action_type: 'noop',
    has_side_effect: false,
  });
  const edge = (from: string, to: string, more: object = {}) => ({
    from,
    to,
    edge_type: 'on_success',
    ...more,
  });
  await template(CHAIN, [noop('a'), noop('b'), noop('c')], [edge('a', 'b'), edge('b', 'c')]);
  await template(
    LANES,
    [noop('root'), noop('left'), noop('right'), noop('end')],
    [edge('root', 'left'), edge('root', 'right'), edge('left', 'end'), edge('right', 'end')],
  );
  await template(
    CONDITION,
    [noop('look'), noop('taken'), noop('left-out')],
    [
      edge('look', 'taken', { condition_expr: "dec(intent.amount) > dec('1')" }),
      edge('look', 'left-out', { condition_expr: "dec(intent.amount) <= dec('1')" }),
    ],
  );
  const payout = {
    action_type: 'replay_payout',
    executor_selector: { action_type: 'replay_payout' },
  };
  const pay = (node_key: string) => ({
    node_key,
    node_kind: 'action',
    has_side_effect: true,
    ...payout,
  });
  await template(TEAM, [pay('pay')], [], 'provider_completed');
  const lanes = ['a', 'b', 'c', 'd', 'e', 'f'];
  await template(
    TEAM_LANES,
    [noop('root'), ...lanes.map(pay)],
    lanes.map((lane) => edge('root', lane)),
    'provider_completed',
  );
  await template(UNFORGIVING, [withdraw('local', { retry_policy: { max_attempts: 1 } })], []);
  const overBridges = stack.bridges === null ? [] : bridgeTemplates(stack.bridges, stack.chain);
  for (const body of overBridges) await api.expect(201, 'POST', '/plan-templates', body);
}

/** Every run, oldest first, once the newest has closed. */
async function recordedRuns(own: OwnStack, of: Created | Transfer): Promise<RecordedRun[]> {
  const workflow_id =
    'transfer_id' in of
      ? capitalTransferWorkflowId(of.transfer_id)
      : movementWorkflowId(of.movement_id);
  const newestRun = () => own.temporal.workflow.getHandle(workflow_id).describe();
  await eventually(async () => ((await newestRun()).status.name === 'RUNNING' ? null : true), {
    what: () => 'the run to close',
  });
  const runs: { run_id: string; started: number }[] = [];
  await eventually(async () => {
    runs.length = 0;
    for await (const run of own.temporal.workflow.list({ query: `WorkflowId = "${workflow_id}"` }))
      runs.push({ run_id: run.runId, started: run.startTime.getTime() });
    const { runId: newest } = await newestRun();
    return runs.some((run) => run.run_id === newest) ? true : null;
  });
  runs.sort((a, b) => a.started - b.started);
  const recorded: RecordedRun[] = [];
  for (const { run_id } of runs) {
    const history = await own.temporal.workflow.getHandle(workflow_id, run_id).fetchHistory();
    recorded.push({
      workflow_id,
      history: withoutMachine(toPlain(history)) as RecordedRun['history'],
    });
  }
  return recorded;
}

/** Takes out what names the recording machine; a replay needs none of it. */
function withoutMachine(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMachine);
  if (typeof value !== 'object' || value === null) return value;
  const sticky = Reflect.get(value, 'kind') === 'TASK_QUEUE_KIND_STICKY';
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'stackTrace')
      .map(([key, inner]) => {
        if (key === 'identity') return [key, 'worker'];
        if (key === 'name' && sticky) return [key, 'sticky'];
        return [key, withoutMachine(inner)];
      }),
  );
}

async function main(wanted: readonly string[]): Promise<void> {
  mkdirSync(HISTORIES, { recursive: true });
  const chosen = (SCENARIOS as readonly Scenario[]).filter(
    ({ name }) => wanted.length === 0 || wanted.includes(name),
  );
  await recordAll(
    chosen.filter(
      ({ bridged, shortHistories, versioned }) =>
        !(bridged ?? shortHistories ?? versioned ?? false),
    ),
  );
  await recordAll(
    chosen.filter(({ bridged }) => bridged === true),
    { bridges: true },
  );
  await recordAll(
    chosen.filter(({ shortHistories }) => shortHistories === true),
    { temporalConfig: [`limit.historyCount.suggestContinueAsNew=${String(SHORT)}`] },
  );
  await recordAll(
    chosen.filter(({ versioned }) => versioned === true),
    { build: BUILD },
  );
}

async function recordAll(
  scenarios: readonly Scenario[],
  {
    temporalConfig = [],
    build,
    bridges = false,
  }: { temporalConfig?: readonly string[]; build?: string; bridges?: boolean } = {},
): Promise<void> {
  if (scenarios.length === 0) return;
  const own = await startOwnStack({
    temporalConfig,
    bridges,
    env: {
      SVC_CAPITAL_TRANSFER_PENDING_TIMEOUT_SECONDS: '5',
      SVC_NODE_UNANSWERED_TIMEOUT_SECONDS: '1',
      ...(build === undefined ? {} : settingsOf(build)),
    },
    executors: () => [
      {
        executor_key: 'team.replay',
        kind: 'task_queue',
        task_queue: TEAM_QUEUE,
        action_types: ['replay_payout'],
        timeout_seconds: 10,
        settle_seconds: 0,
        same_key_safe: true,
        payees: [],
      },
    ],
  });
  try {
    await createTemplates(own);
    if (build !== undefined) await promote(buildsOf(own.temporal), build);
    for (const { name, amount, ends } of scenarios) {
      const runs = await recordedRuns(own, await DRIVES[name as ScenarioName](own, amount));
      if (runs.length !== ends.length)
        throw new Error(`${name}: ${runs.length} runs were recorded, not ${ends.length}`);
      const leaks = forbiddenIn(readable(unnamed(runs)));
      if (leaks.length > 0)
        throw new Error(`${name} says what no history may say:\n${leaks.join('\n---\n')}`);
      writeFileSync(
        join(HISTORIES, historyFile(name)),
        `${JSON.stringify({ scenario: name, runs }, null, 1)}\n`,
      );
      process.stdout.write(
        `${name}: ${runs.map((run) => `${run.history.events.length} events`).join(', ')}\n`,
      );
    }
  } finally {
    await own.close();
  }
}

await main(process.argv.slice(2));
process.exit();
