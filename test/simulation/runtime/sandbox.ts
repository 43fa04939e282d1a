/**
 * The SDK's own sandbox for workflow code, in this process: activations in, commands out. The
 * modules are internal to the SDK, so this is the one file that knows them; the versions of
 * `@temporalio/worker` and this file change together.
 */
import { createRequire } from 'node:module';
import type { coresdk } from '@temporalio/proto';
import type { Workflow } from '@temporalio/worker/lib/workflow/interface.js';
import type { ReusableVMWorkflowCreator } from '@temporalio/worker/lib/workflow/reusable-vm.js';
import { workflowBundle } from '../../../activities/bundle.ts';

export type Activation = coresdk.workflow_activation.IWorkflowActivation;
export type Job = coresdk.workflow_activation.IWorkflowActivationJob;
type CreateOptions = Parameters<ReusableVMWorkflowCreator['createWorkflow']>[0];
export type Command = coresdk.workflow_commands.IWorkflowCommand;

// Loaded as CommonJS: the package does not export these paths for import.
const require = createRequire(import.meta.url);
const { ReusableVMWorkflowCreator: Creator } =
  require('@temporalio/worker/lib/workflow/reusable-vm.js') as {
    readonly ReusableVMWorkflowCreator: typeof ReusableVMWorkflowCreator;
  };
type Bundle = Parameters<typeof ReusableVMWorkflowCreator.create>[0];

/**
 * The SDK follows every promise of its thread, so that a query can show where a run waits, and
 * compiles a function for each. No query comes here.
 */
const { globalHandlers } = require('@temporalio/worker/lib/workflow/vm-shared.js') as {
  readonly globalHandlers: { setPromiseHook: () => void };
};
globalHandlers.setPromiseHook = () => undefined;

const FILE = 'workflow-bundle.js';
const ACTIVITIES = [
  ...['load', 'decide', 'expire', 'preflight', 'prepare', 'submit', 'observe', 'recover'],
  ...['cancel', 'ask', 'record', 'queueOf', 'leaveBuild'],
  ...['loadTransfer', 'submitTransfer', 'lookTransfer', 'leaveBuildOfTransfer'],
];

/**
 * No limit of time: the SDK would start a thread for each call into the sandbox. A world that
 * computes for ever is ended from outside.
 */
const NO_LIMIT = undefined as unknown as number;

/** A run of workflow code. Its methods are called one at a time. */
export interface SandboxedRun {
  /**
   * Returns its commands, and the flags of the SDK that a replay of it needs.
   *
   * @throws when the workflow code throws what is no failure of its workflow.
   */
  activate(
    activation: Activation,
  ): Promise<{ readonly commands: readonly Command[]; readonly flags: readonly number[] }>;
  dispose(): Promise<void>;
}

export interface RunInfo {
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
  readonly taskQueue: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

export class Sandbox {
  readonly #creator: ReusableVMWorkflowCreator;

  private constructor(creator: ReusableVMWorkflowCreator) {
    this.#creator = creator;
  }

  /** Loads the workflows as the last build made them. */
  static async open(): Promise<Sandbox> {
    const [code = ''] = workflowBundle().code.split('\n//# sourceMappingURL=');
    // Only call stacks would need the map, and the bundle keeps none.
    const sourceMap = { version: 3, file: FILE, sources: [], names: [], mappings: '' };
    const bundle: Bundle = { code, filename: FILE, sourceMap };
    return new Sandbox(await Creator.create(bundle, NO_LIMIT, new Set(ACTIVITIES), undefined));
  }

  async run(info: RunInfo): Promise<SandboxedRun> {
    const { startedAt } = info;
    const start = new Date(startedAt);
    const workflow: Workflow = await this.#creator.createWorkflow({
      info: {
        ...info,
        namespace: 'default',
        firstExecutionRunId: info.runId,
        attempt: 1,
        startTime: start,
        runStartTime: start,
        historyLength: 0,
        historySize: 0,
        continueAsNewSuggested: false,
        searchAttributes: {},
        typedSearchAttributes: undefined,
        taskTimeoutMs: 10_000,
        unsafe: { now: () => startedAt, isReplaying: false, isReplayingHistoryEvents: false },
      } as unknown as CreateOptions['info'],
      randomnessSeed: [1, 2, 3, 4],
      now: startedAt,
      showStackTraceSources: false,
    });
    return {
      async activate(activation) {
        const { successful, failed } = await workflow.activate(activation);
        await workflow.getAndResetSinkCalls();
        if (successful == null)
          throw new Error(`the activation failed: ${failed?.failure?.message ?? 'unknown'}`);
        return { commands: successful.commands ?? [], flags: successful.usedInternalFlags ?? [] };
      },
      dispose: () => workflow.dispose(),
    };
  }

  async close(): Promise<void> {
    await this.#creator.destroy();
  }
}
