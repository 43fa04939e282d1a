/** The connection to Temporal, and the signals that wake runs. The only user of the Temporal client. */
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { MOVEMENT_WORKFLOW, movementWorkflowId, SEARCH_ATTRIBUTES, signalFor, TASK_QUEUE } from '../domain/messages.ts';
import type { CommandKind } from '../domain/transition.ts';

/** Temporal's IndexedValueType for Keyword. */
const KEYWORD = 2;
/** gRPC status codes. */
const ALREADY_EXISTS = 6;
const CALL_TIMEOUT_MS = 10_000;

export interface Wake {
  readonly movementId: string;
  readonly kind: CommandKind;
  readonly commandId: string | null;
}

export interface Temporal {
  readonly client: Client;
  /** Signal-with-start: a running run looks again, a missing one is begun. */
  wake(wake: Wake): Promise<void>;
  /** Whether the movement has a run that is not closed. */
  isRunning(movementId: string): Promise<boolean>;
  /** Whether the server answers. */
  check(): Promise<void>;
  /** Registers the search attributes; repeating it is harmless. */
  registerSearchAttributes(): Promise<void>;
  close(): Promise<void>;
}

/** Connects on first use, so that a server that is away never stops the API. */
export function connectTemporal(settings: { readonly address: string; readonly namespace: string }): Temporal {
  const connection = Connection.lazy({ address: settings.address, connectTimeout: '5 seconds' });
  const client = new Client({ connection, namespace: settings.namespace });
  const limited = <T>(work: () => Promise<T>): Promise<T> => connection.withDeadline(Date.now() + CALL_TIMEOUT_MS, work);
  return {
    client,
    wake: ({ movementId, kind, commandId }) =>
      limited(async () => {
        await client.workflow.signalWithStart(MOVEMENT_WORKFLOW, {
          workflowId: movementWorkflowId(movementId),
          taskQueue: TASK_QUEUE,
          args: [movementId],
          signal: signalFor(kind),
          signalArgs: [commandId],
          workflowIdReusePolicy: 'ALLOW_DUPLICATE',
          staticSummary: `movement ${movementId}`,
        });
      }),
    isRunning: (movementId) =>
      limited(async () => {
        try {
          const description = await client.workflow.getHandle(movementWorkflowId(movementId)).describe();
          return description.status.name === 'RUNNING';
        } catch (error) {
          if (error instanceof WorkflowNotFoundError) return false;
          throw error;
        }
      }),
    check: () =>
      limited(async () => {
        await connection.workflowService.describeNamespace({ namespace: settings.namespace });
      }),
    registerSearchAttributes: () =>
      limited(async () => {
        for (const name of Object.values(SEARCH_ATTRIBUTES)) {
          try {
            await connection.operatorService.addSearchAttributes({ namespace: settings.namespace, searchAttributes: { [name]: KEYWORD } });
          } catch (error) {
            if (!isStatus(error, ALREADY_EXISTS)) throw error;
          }
        }
      }),
    close: () => connection.close(),
  };
}

function isStatus(error: unknown, code: number): boolean {
  for (let at = error; typeof at === 'object' && at !== null; at = Reflect.get(at, 'cause')) {
    if (Reflect.get(at, 'code') === code) return true;
  }
  return false;
}
