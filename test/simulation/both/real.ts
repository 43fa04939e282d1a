/**
 * Plays scenarios on a real Temporal server with a real Postgres. All scenarios of a group share a
 * namespace and a worker process, so that all of them lose their worker at the same time.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, WorkflowNotFoundError } from '@temporalio/client';
import proto from '@temporalio/proto';
import pg from 'pg';
import { pino } from 'pino';
import { built } from '../../../dev/bootstrap/programs.mjs';
import { SEARCH_ATTRIBUTES } from '../../../dev/stack/config.ts';
import { freePort } from '../../../dev/stack/ports.ts';
import type { Supervisor } from '../../../dev/stack/supervise/supervisor.ts';
import { findTemporalServer } from '../../../dev/stack/temporal-binary.ts';
import { temporalPart } from '../../../dev/stack/temporal.ts';
import { movementWorkflowId } from '../../../domain/messages.ts';
import { connectTemporal, type Temporal } from '../../../platform/temporal.ts';
import { connectDatabase } from '../../../prisma/client.ts';
import type { Event } from '../runtime/execution.ts';
import { createApi, partsOf, type Api } from '../service.ts';
import { desks, wakes, type DeskCall, type Play } from './play.ts';
import { playOn, type Host, type Outcome, type Run, type Scenario } from './script.ts';
import { SECONDS, SUGGESTED_AT } from './times.ts';

const { EventType, WorkflowExecutionStatus } = proto.temporal.api.enums.v1;
const CALM = 'default';
/** A busy machine would extend workflow tasks. */
const [GROUPS_AT_A_TIME, CALM_AT_A_TIME] = [4, 16];

/** Starts Temporal with a namespace for each group; returns its address. */
export async function startTemporal(
  supervisor: Supervisor,
  dataDir: string,
  scenarios: readonly Scenario[],
): Promise<string> {
  const server = await findTemporalServer();
  if (server.kind === 'address')
    throw new Error(
      'the scenarios need a Temporal server of their own: unset SVC_TEMPORAL_ADDRESS',
    );
  const port = await freePort();
  const part = temporalPart({
    binary: server.path,
    dataDir,
    port,
    uiPort: await freePort([port]),
    logDir: join(dataDir, 'logs'),
    searchAttributes: SEARCH_ATTRIBUTES,
    dynamicConfig: [`limit.historyCount.suggestContinueAsNew=${String(SUGGESTED_AT)}`],
  });
  const more = groupsOf(scenarios).flatMap((group) => ['--namespace', group]);
  mkdirSync(join(dataDir, 'logs'), { recursive: true });
  await supervisor.add({ ...part, args: [...part.args, ...more] });
  return `127.0.0.1:${String(port)}`;
}

const groupsOf = (scenarios: readonly Scenario[]): string[] => [
  ...new Set(scenarios.map(({ group }) => group ?? CALM)),
];

export interface RealOptions {
  readonly databaseUrl: string;
  readonly address: string;
  readonly logDir: string;
}

/** Plays groups side by side; an error stands in place of what has failed. */
export async function playOnReal(
  scenarios: readonly Scenario[],
  options: RealOptions,
): Promise<ReadonlyMap<string, Outcome | Error>> {
  const outcomes = new Map<string, Outcome | Error>();
  const playGroup = async (group: string): Promise<void> => {
    const members = scenarios.filter((each) => (each.group ?? CALM) === group);
    const stage = new Stage(group, members.length, options);
    const opened = stage.open();
    const most = group === CALM ? CALM_AT_A_TIME : members.length;
    await inParallel(most, members, async (each) => {
      try {
        await opened;
        outcomes.set(each.name, await playOn(stage.host(), each));
      } catch (error) {
        stage.hasLeft();
        outcomes.set(each.name, error instanceof Error ? error : new Error(String(error)));
      }
    });
    await stage.close();
  };
  await inParallel(GROUPS_AT_A_TIME, groupsOf(scenarios), playGroup);
  return outcomes;
}

async function inParallel<T>(
  most: number,
  all: readonly T[],
  work: (each: T) => Promise<void>,
): Promise<void> {
  const waiting = [...all];
  const workNext = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: most }, workNext));
}

/** Where everybody of a group waits for all others. */
class Meeting {
  readonly #waiting: (() => void)[] = [];
  readonly #then: () => Promise<void>;
  #expected: number;

  constructor(expected: number, then: () => Promise<void> = () => Promise.resolve()) {
    this.#expected = expected;
    this.#then = then;
  }

  arrive(): Promise<void> {
    const met = new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#check();
    return met;
  }

  /** One fewer will come. */
  leave(): void {
    this.#expected -= 1;
    this.#check();
  }

  #check(): void {
    if (this.#waiting.length < this.#expected || this.#waiting.length === 0) return;
    const waiting = this.#waiting.splice(0);
    void this.#then().finally(() => {
      for (const goOn of waiting) goOn();
    });
  }
}

class Stage {
  readonly #options: RealOptions & { readonly namespace: string };
  readonly #temporal: Temporal;
  readonly #connection: Connection;
  readonly #pool: pg.Pool;
  readonly #call: Api['call'];
  readonly #closeDatabase: () => Promise<void>;
  readonly #plays = new Map<string, Play>();
  readonly #together: Meeting;
  readonly #death: Meeting;
  readonly #frost: Meeting;
  #worker: ChildProcess | null = null;
  #starting: Promise<void> = Promise.resolve();

  constructor(namespace: string, members: number, options: RealOptions) {
    this.#options = { ...options, namespace };
    const { databaseUrl, address } = options;
    this.#temporal = connectTemporal({ address, namespace });
    this.#connection = Connection.lazy({ address });
    this.#pool = new pg.Pool({ connectionString: databaseUrl, max: 4 });
    this.#pool.on('error', () => undefined);
    const db = connectDatabase({ url: databaseUrl, poolSize: 6 });
    this.#closeDatabase = () => db.$disconnect();
    const noDesk = { call: () => never(), at: () => never() };
    this.#call = createApi(
      partsOf(db, { executors: desks(noDesk) }),
      wakes(this.#temporal, this.#plays),
      `api-${namespace}`,
    );
    this.#together = new Meeting(members);
    this.#death = new Meeting(members, () => this.#die());
    this.#frost = new Meeting(members, () => this.#freeze());
  }

  async open(): Promise<void> {
    await this.#temporal.registerSearchAttributes(pino({ level: 'silent' }));
    await this.#start();
  }

  host(): Host {
    return {
      temporal: this.#temporal,
      api: this.#call,
      sleep: (ms) => sleep(ms),
      query: async (text, values) => (await this.#pool.query(text, [...values])).rows as object[],
      begin: (movementId, play) => void this.#plays.set(movementId, play),
      isQuiet: (movementId) => this.#isQuiet(movementWorkflowId(movementId)),
      runs: (movementId) => this.#runs(movementWorkflowId(movementId)),
      together: () => this.#together.arrive(),
      death: () => this.#death.arrive(),
      freeze: () => this.#frost.arrive(),
      another: () => this.#starting,
    };
  }

  /** A scenario has failed: the others do not wait for it. */
  hasLeft(): void {
    this.#together.leave();
    this.#death.leave();
    this.#frost.leave();
  }

  async close(): Promise<void> {
    await this.#starting.catch(() => undefined);
    this.#worker?.kill('SIGKILL');
    await Promise.allSettled([
      this.#temporal.close(),
      this.#connection.close(),
      this.#pool.end(),
      this.#closeDatabase(),
    ]);
  }

  async #die(): Promise<void> {
    await sleep(SECONDS.beforeDeath(this.#options.namespace) * 1_000);
    this.#worker?.kill('SIGKILL');
    this.#worker = null;
    this.#starting = sleep(SECONDS.afterDeath(this.#options.namespace) * 1_000).then(() =>
      this.#start(),
    );
    this.#starting.catch(() => undefined);
    await sleep(SECONDS.noticed * 1_000);
  }

  async #freeze(): Promise<void> {
    await sleep(SECONDS.beforeDeath(this.#options.namespace) * 1_000);
    this.#worker?.kill('SIGSTOP');
    this.#starting = sleep(SECONDS.frozen(this.#options.namespace) * 1_000).then(() => {
      this.#worker?.kill('SIGCONT');
    });
  }

  #start(): Promise<void> {
    const { databaseUrl, address, namespace, logDir } = this.#options;
    const logFile = join(logDir, `worker-${namespace}.log`);
    const log = openSync(logFile, 'a');
    const child = fork(
      built('simulation-worker'),
      [JSON.stringify({ databaseUrl, address, namespace })],
      { execArgv: [], stdio: ['ignore', log, log, 'ipc'] },
    );
    closeSync(log);
    this.#worker = child;
    return new Promise((resolve, reject) => {
      child.once('exit', () => reject(new Error(readFileSync(logFile, 'utf8').slice(-2_000))));
      child.on('message', (message: Message) => {
        if ('ready' in message) resolve();
        else void this.#answer(child, message);
      });
    });
  }

  async #answer(child: ChildProcess, message: Question): Promise<void> {
    const reach = 'call' in message ? message.call : message.at;
    const play = this.#plays.get(reach.movement_id);
    const answer =
      'call' in message ? await play?.call(message.call) : await play?.at(message.at.point);
    if (child.connected) child.send({ id: message.id, answer }, () => undefined);
  }

  async #isQuiet(workflowId: string): Promise<boolean> {
    try {
      const { namespace } = this.#options;
      const { pendingWorkflowTask } =
        await this.#connection.workflowService.describeWorkflowExecution({
          namespace,
          execution: { workflowId },
        });
      return pendingWorkflowTask == null;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  /** The newest run and all before it, oldest first. */
  async #runs(workflowId: string): Promise<readonly Run[]> {
    const { namespace } = this.#options;
    const { workflowService } = this.#connection;
    const { executions } = await workflowService.listWorkflowExecutions({
      namespace,
      query: `WorkflowId = '${workflowId}'`,
    });
    const inOrder = executions.toSorted(
      (a, b) =>
        Number(a.startTime?.seconds) - Number(b.startTime?.seconds) ||
        (a.startTime?.nanos ?? 0) - (b.startTime?.nanos ?? 0),
    );
    return Promise.all(
      inOrder.map(async ({ execution, status }) => ({
        status: nameOf(WorkflowExecutionStatus, status, 'WORKFLOW_EXECUTION_STATUS_'),
        events: await this.#events(workflowId, execution?.runId ?? ''),
      })),
    );
  }

  async #events(workflowId: string, runId: string): Promise<Event[]> {
    const { namespace } = this.#options;
    const { history } = await this.#connection.workflowService.getWorkflowExecutionHistory({
      namespace,
      execution: { workflowId, runId },
    });
    return eventsOf(history ?? {});
  }
}

type Question = { readonly id: number } & (
  | { readonly call: DeskCall }
  | { readonly at: { readonly movement_id: string; readonly point: string } }
);
type Message = Question | { readonly ready: true };

function never(): never {
  throw new Error('an API calls no desk');
}

function isMissing(error: unknown): boolean {
  return (
    error instanceof WorkflowNotFoundError ||
    (error instanceof Error && /NOT_FOUND|not found/i.test(error.message))
  );
}

/** The name of an enum's value, without what all names of the enum begin with. */
function nameOf(
  names: Readonly<Record<number, string>>,
  value: number | null | undefined,
  prefix: string,
): string {
  return (names[value ?? 0] ?? '').replace(prefix, '');
}

/** A history's events as the model names them. */
function eventsOf(history: proto.temporal.api.history.v1.IHistory): Event[] {
  const types = new Map<string, string>();
  return (history.events ?? []).map((event) => {
    const kind = nameOf(EventType, event.eventType, 'EVENT_TYPE_');
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled != null) types.set(String(event.eventId), scheduled.activityType?.name ?? '');
    const attributes = Object.entries(event).find(([key]) => key.endsWith('Attributes'))?.[1] as
      Record<string, unknown> | undefined;
    const name = kind.startsWith('ACTIVITY_TASK')
      ? types.get(String(attributes?.['scheduledEventId'] ?? event.eventId))
      : (attributes?.['signalName'] ?? attributes?.['markerName']);
    return typeof name === 'string' && name !== '' ? { kind, name } : { kind };
  });
}
