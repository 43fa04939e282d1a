/** The connection to Temporal and the signals that wake runs; only this file uses its client. */
import {
  Client,
  Connection,
  WorkflowNotFoundError,
  type WorkflowClientInterceptor,
} from '@temporalio/client';
import {
  defineSearchAttributeKey,
  SearchAttributeType,
  type PayloadCodec,
  type Priority,
} from '@temporalio/common';
import type { Logger } from 'pino';
import { SIGNALLED_REASONS, type SignalledAttention } from '../domain/attention-reasons.ts';
import {
  ATTENTION_SIGNAL,
  ATTENTION_WORKFLOW,
  attentionWorkflowId,
  CAPITAL_TRANSFER_WORKFLOW,
  capitalTransferWorkflowId,
  MOVEMENT_WORKFLOW,
  movementOfWorkflow,
  movementWorkflowId,
  SEARCH_ATTRIBUTES,
  signalFor,
  type About,
  type EndedBadly,
  TASK_QUEUE,
} from '../domain/messages.ts';
import type { CommandKind } from '../domain/transition.ts';
import { turnOf, type ByStrategy } from '../domain/turns.ts';
import type { TemporalAccess } from './config/temporal.ts';
import { ACTIVITIES, describeQueue, readPendingTask, type LookedRun } from './pending-task.ts';
import { ensureSearchAttributes, KEYWORD, type AttributeServer } from './search-attributes.ts';
import { connectionOptions } from './temporal-access.ts';
import { createBuilds, type Builds } from './temporal-builds.ts';
import { explainTemporal, type TemporalFault } from './temporal-faults.ts';
import { countingRetries } from './temporal-metrics.ts';

const CALL_TIMEOUT_MS = 10_000;

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);
const ATTENTION = SEARCH_ATTRIBUTES.attention;
const running = (type: string) => `WorkflowType="${type}" AND ExecutionStatus="Running"`;
const PAGE_SIZE = 1_000;

/** The movement or the capital transfer that a workflow run belongs to. */
export type RunOf = { readonly movementId: string } | { readonly transferId: string };

export type Wake = RunOf & {
  readonly kind: CommandKind;
  readonly commandId: string | null;
  /**
   * For a run that the wake starts: its name and its turn. Absent: it is named by its id, and has
   * the turn of a movement without a strategy.
   */
  readonly about?: About | undefined;
};

/** The settings that decide whose runs go first; see domain/turns.ts. */
export interface Turns {
  readonly strategyShares: ByStrategy;
  readonly strategyPriorities: ByStrategy;
}

interface Link {
  readonly connection: Connection;
  readonly client: Client;
}

export interface Temporal {
  readonly client: Client;
  /**
   * Sends a signal-with-start: a running run loads its movement or transfer again, and a missing
   * run is started.
   */
  wake(wake: Wake): Promise<void>;
  /** Signals a run why its movement needs a person; does nothing when the run is closed. */
  tell(workflowId: string, attention: SignalledAttention): Promise<void>;
  /** Starts the run that shows that a movement with a closed run needs a person. */
  showEnded(ended: EndedBadly): Promise<void>;
  /** Returns the attention reasons that open runs show, by workflow id. */
  listShownReasons(): Promise<ReadonlyMap<string, string>>;
  /**
   * Lists, page by page, movements whose runs the server lists as running. The server's list lags:
   * a movement missing in it may be running, and a listed one may have just closed.
   */
  listRunning(): AsyncIterable<readonly string[]>;
  /** Returns how many runs of movements the server counts as running. Lags as its list does. */
  countRunning(): Promise<number>;
  /** Returns whether the entity has a run that is not closed. */
  isRunning(of: RunOf): Promise<boolean>;
  /** Returns the entity's open run with its unfinished workflow task; null: no run is open. */
  lookAtRun(of: RunOf): Promise<LookedRun | null>;
  /**
   * Returns whether a worker has polled this task queue for activities in about the last minute.
   */
  hasPollers(taskQueue: string): Promise<boolean>;
  /** The builds of the workers, and their runs. */
  readonly builds: Builds;
  /** Resolves when the server answers; rejects otherwise. */
  check(timeoutMs?: number): Promise<void>;
  /** Returns why the server cannot be used, and what to do. */
  explain(error: unknown): Promise<TemporalFault>;
  /** Switches to a renewed key or certificate once the server has answered over it. */
  use(access: TemporalAccess): Promise<void>;
  /** Registers missing search attributes; for its faults see {@link ensureSearchAttributes}. */
  registerSearchAttributes(log: Logger): Promise<void>;
  close(): Promise<void>;
}

/**
 * Returns the connection, which is opened on first use, so that an unreachable server never stops
 * the API.
 */
export function connectTemporal(
  settings: TemporalAccess & {
    /** Encrypts payloads; absent: payloads are written unencrypted. */
    readonly payloadCodec?: PayloadCodec | undefined;
    /** Intercepts every wake. */
    readonly interceptor?: WorkflowClientInterceptor | undefined;
    /** Whose runs go first; absent: no run is started with a turn. */
    readonly turns?: Turns | undefined;
  },
): Temporal {
  const { namespace, payloadCodec, interceptor, turns } = settings;
  const open = (to: TemporalAccess): Link => {
    const connection = Connection.lazy({
      ...connectionOptions(to),
      connectTimeout: '5 seconds',
      interceptors: [countingRetries()],
    });
    const client = new Client({
      connection,
      namespace,
      ...(interceptor === undefined ? {} : { interceptors: { workflow: [interceptor] } }),
      ...(payloadCodec === undefined ? {} : { dataConverter: { payloadCodecs: [payloadCodec] } }),
    });
    return { connection, client };
  };
  let access: TemporalAccess = settings;
  let link = open(access);
  const limited = <T>(
    work: (link: Link) => Promise<T>,
    timeoutMs = CALL_TIMEOUT_MS,
  ): Promise<T> => {
    const { connection, client } = link;
    return connection.withDeadline(Date.now() + timeoutMs, () => work({ connection, client }));
  };
  return {
    get client() {
      return link.client;
    },
    async use(renewed) {
      const next = open(renewed);
      try {
        await next.connection.withDeadline(Date.now() + CALL_TIMEOUT_MS, () =>
          next.connection.workflowService.describeNamespace({ namespace }),
        );
      } catch (error) {
        await next.connection.close();
        throw error;
      }
      const { connection: old } = link;
      access = renewed;
      link = next;
      // Calls still running over the old connection have their own time limit, so it closes later.
      setTimeout(() => void old.close().catch(() => undefined), 2 * CALL_TIMEOUT_MS).unref();
    },
    wake: ({ kind, commandId, about, ...of }) =>
      limited(async ({ client }) => {
        const { type, id, workflowId, summary } = runOf(of);
        await client.workflow.signalWithStart(type, {
          workflowId,
          taskQueue: TASK_QUEUE,
          args: [id],
          signal: signalFor(kind),
          signalArgs: [commandId],
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          ...startedWith(turns, about),
          staticSummary: about === undefined ? summary : summaryOf(about),
        });
      }),
    tell: (workflowId, attention) =>
      limited(async ({ client }) => {
        try {
          await client.workflow.getHandle(workflowId).signal(ATTENTION_SIGNAL, attention);
        } catch (error) {
          if (!(error instanceof WorkflowNotFoundError)) throw error;
        }
      }),
    showEnded: (ended) =>
      limited(async ({ client }) => {
        const { movement_id, reason, node_key } = ended;
        await client.workflow.signalWithStart(ATTENTION_WORKFLOW, {
          workflowId: attentionWorkflowId(movement_id),
          taskQueue: TASK_QUEUE,
          signal: ATTENTION_SIGNAL,
          signalArgs: [{ reason, node_key }],
          typedSearchAttributes: [
            { key: keyword(ATTENTION), value: reason },
            { key: keyword(SEARCH_ATTRIBUTES.state), value: ended.state },
            { key: keyword(SEARCH_ATTRIBUTES.asset), value: ended.asset },
            { key: keyword(SEARCH_ATTRIBUTES.template), value: ended.template_key },
            ...(ended.strategy_id === null
              ? []
              : [{ key: keyword(SEARCH_ATTRIBUTES.strategy), value: ended.strategy_id }]),
          ],
          staticSummary: summaryOf(ended),
          staticDetails: endedDetails(ended),
        });
      }),
    listShownReasons: () =>
      limited(async ({ client }) => {
        const shown = new Map<string, string>();
        // The query names a single reason and nothing else: a server on SQL can then use the
        // attribute's index instead of scanning all running runs.
        for (const reason of SIGNALLED_REASONS) {
          const query = `${ATTENTION}="${reason}"`;
          const runs = client.workflow.list({ query, pageSize: PAGE_SIZE });
          for await (const { workflowId, type, status } of runs)
            if (type === MOVEMENT_WORKFLOW && status.name === 'RUNNING')
              shown.set(workflowId, reason);
        }
        const query = running(ATTENTION_WORKFLOW);
        const ended = client.workflow.list({ query, pageSize: PAGE_SIZE });
        for await (const { workflowId, searchAttributes } of ended)
          shown.set(workflowId, String(searchAttributes[ATTENTION]?.[0]));
        return shown;
      }),
    listRunning: async function* () {
      let nextPageToken: Uint8Array = new Uint8Array();
      do {
        const page = await limited(({ connection }) =>
          connection.workflowService.listWorkflowExecutions({
            namespace,
            pageSize: PAGE_SIZE,
            nextPageToken,
            query: running(MOVEMENT_WORKFLOW),
          }),
        );
        yield page.executions.map(({ execution }) =>
          movementOfWorkflow(execution?.workflowId ?? ''),
        );
        ({ nextPageToken } = page);
      } while (nextPageToken.length > 0);
    },
    countRunning: () =>
      limited(async ({ client }) => {
        const { count } = await client.workflow.count(running(MOVEMENT_WORKFLOW));
        return count;
      }),
    isRunning: (of) =>
      limited(async ({ client }) => {
        try {
          const description = await client.workflow.getHandle(runOf(of).workflowId).describe();
          return description.status.name === 'RUNNING';
        } catch (error) {
          if (error instanceof WorkflowNotFoundError) return false;
          throw error;
        }
      }),
    lookAtRun: (of) =>
      limited(async (now) => {
        try {
          return await readPendingTask(now, { namespace, workflowId: runOf(of).workflowId });
        } catch (error) {
          if (error instanceof WorkflowNotFoundError) return null;
          throw error;
        }
      }),
    hasPollers: (name) =>
      limited(async ({ connection }) => {
        const queue = { name, type: ACTIVITIES };
        const { pollers } = await describeQueue({ connection, namespace }, queue);
        return pollers.length > 0;
      }),
    builds: createBuilds(namespace, limited),
    check: (timeoutMs) =>
      limited(async ({ connection }) => {
        await connection.workflowService.describeNamespace({ namespace });
      }, timeoutMs),
    explain: (error) => explainTemporal(access, error),
    registerSearchAttributes: (log) =>
      limited(({ connection }) =>
        ensureSearchAttributes(attributeServer(connection, namespace), { namespace, log }),
      ),
    close: () => link.connection.close(),
  };
}

/** Returns the options by which a run gets its turn; a server that knows no turns ignores them. */
function startedWith(turns: Turns | undefined, about: About | undefined): { priority?: Priority } {
  if (turns === undefined || about === undefined) return {};
  const priority = turnOf(about.strategy_id, turns.strategyShares, turns.strategyPriorities);
  return priority === null ? {} : { priority };
}

function summaryOf({ amount, asset, template_key }: About): string {
  return `${amount} ${asset} · ${template_key}`;
}

/** Returns short lines, since the UI cuts long ones. */
function endedDetails({ movement_id, state }: EndedBadly): string {
  return [
    `The movement is **${state}**, and its run is closed:`,
    movementWorkflowId(movement_id),
    `read: fundctl movements show ${movement_id}`,
    'This run ends once no person is needed.',
  ].join('\n\n');
}

function runOf(of: RunOf): {
  readonly type: string;
  readonly id: string;
  readonly workflowId: string;
  readonly summary: string;
} {
  if ('movementId' in of) {
    const { movementId: id } = of;
    return {
      type: MOVEMENT_WORKFLOW,
      id,
      workflowId: movementWorkflowId(id),
      summary: `movement ${id}`,
    };
  }
  const { transferId: id } = of;
  return {
    type: CAPITAL_TRANSFER_WORKFLOW,
    id,
    workflowId: capitalTransferWorkflowId(id),
    summary: `capital transfer ${id}`,
  };
}

function attributeServer(
  { operatorService, workflowService }: Connection,
  namespace: string,
): AttributeServer {
  return {
    list: async () => (await operatorService.listSearchAttributes({ namespace })).customAttributes,
    add: async (name) =>
      void (await operatorService.addSearchAttributes({
        namespace,
        searchAttributes: { [name]: KEYWORD },
      })),
    aliases: async () =>
      (await workflowService.describeNamespace({ namespace })).config
        ?.customSearchAttributeAliases ?? {},
  };
}
