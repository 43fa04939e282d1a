/** The service's connection to the simulated Temporal server. */
import {
  ATTENTION_SIGNAL,
  ATTENTION_WORKFLOW,
  attentionWorkflowId,
  CAPITAL_TRANSFER_WORKFLOW,
  capitalTransferWorkflowId,
  MOVEMENT_WORKFLOW,
  movementOfWorkflow,
  movementWorkflowId,
  signalFor,
} from '../../../domain/messages.ts';
import type { RunOf, Temporal } from '../../../platform/temporal.ts';
import type { Machine } from '../machine/machine.ts';
import type { Server } from './server.ts';

/** What befalls a call of the server. */
export type CallFault = 'lost before' | 'lost after' | 'twice';

export interface ClientOptions {
  readonly machine: Machine;
  readonly server: Server;
  readonly fault: (call: string) => CallSuffered | null;
}

/** A fault of a call. */
export interface CallSuffered {
  readonly fault: CallFault;
  /** To be called where it changes the run. */
  readonly counts: () => void;
}

/** Calls wait for their turn, and can be lost on their way, or their answers. */
export function createClient({ machine, server, fault }: ClientOptions): Temporal {
  const call = <T>(name: string, work: () => T, isRead = false): Promise<T> =>
    machine.step(`temporal ${name}`, async () => {
      const suffered = fault(name);
      if (!isRead) suffered?.counts();
      if (suffered?.fault === 'lost before') throw new Error('the server did not answer');
      const answer = work();
      if (suffered?.fault === 'twice') work();
      if (suffered?.fault === 'lost after') throw new Error('the server did not answer');
      return answer;
    });
  const read = <T>(name: string, work: () => T): Promise<T> => call(name, work, true);
  const running = (): readonly string[] =>
    server.running().filter((id) => id.startsWith(movementWorkflowId('')));
  const unused = (name: string) => (): never => {
    throw new Error(`the simulation has no ${name}`);
  };
  return {
    get client(): never {
      return unused('client')();
    },
    get builds(): never {
      return unused('builds')();
    },
    wake: ({ kind, commandId, ...of }) =>
      call(`wake ${workflowOf(of)}`, () => {
        const isMovement = 'movementId' in of;
        server.signalWithStart(
          isMovement ? MOVEMENT_WORKFLOW : CAPITAL_TRANSFER_WORKFLOW,
          workflowOf(of),
          [isMovement ? of.movementId : of.transferId],
          signalFor(kind),
          [commandId],
        );
      }),
    tell: (workflowId, attention) =>
      call(
        `tell ${workflowId}`,
        () => void server.signal(workflowId, ATTENTION_SIGNAL, [attention]),
      ),
    showEnded: ({ movement_id, reason, node_key }) =>
      call(`show ${movement_id}`, () => {
        server.signalWithStart(
          ATTENTION_WORKFLOW,
          attentionWorkflowId(movement_id),
          [],
          ATTENTION_SIGNAL,
          [{ reason, node_key }],
        );
      }),
    listShownReasons: () => read('list reasons', () => new Map<string, string>()),
    listRunning: async function* () {
      yield await read('list running', () => running().map(movementOfWorkflow));
    },
    countRunning: () => read('count running', () => running().length),
    isRunning: (of) =>
      read(`describe ${workflowOf(of)}`, () => server.statusOf(workflowOf(of)) === 'RUNNING'),
    lookAtRun: unused('look at a run'),
    hasPollers: () => read('pollers', () => true),
    check: () => read('check', () => undefined),
    explain: unused('explanation'),
    use: unused('renewed access'),
    registerSearchAttributes: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

function workflowOf(of: RunOf): string {
  return 'movementId' in of
    ? movementWorkflowId(of.movementId)
    : capitalTransferWorkflowId(of.transferId);
}
