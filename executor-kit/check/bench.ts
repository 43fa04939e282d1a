/** Helpers for the checks: new keys, calls with one time-out, and the count of effects. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ExecutorFault,
  type ExecutionContext,
  type ExecutionResult,
  type ExecutorPhase,
} from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { countEffects } from './effects.ts';
import type { CheckOptions } from './options.ts';
import type { OwnProcess } from './own-process.ts';
import { NO_JOURNAL, type LossPoint, type Target } from './target.ts';
import { Broken } from './broken.ts';

/** A prepared action with its own idempotency key. */
export interface Action {
  readonly context: ExecutionContext;
  readonly prepared_action: JsonObject;
}

/** An answer that does not fit the protocol; the `protocol` check reports it. */
export interface FormFault {
  readonly phase: ExecutorPhase;
  readonly message: string;
}

const MAX_POLL_SECONDS = 5;

export class Bench {
  readonly target: Target;
  readonly options: CheckOptions;
  readonly formFaults: FormFault[] = [];
  /** Measured duration of a submit, in milliseconds; later kills and time-outs depend on this. */
  submitMs = 20;
  readonly #process: OwnProcess | null;

  constructor(target: Target, options: CheckOptions, ownProcess: OwnProcess | null) {
    this.target = target;
    this.options = options;
    this.#process = ownProcess;
  }

  /** Returns an execution context like the service's, with a key that was never used. */
  context(changes: Partial<ExecutionContext> = {}): ExecutionContext {
    const { actionType, asset, amount, config, inputParams, completionAssurance, signer } =
      this.options;
    const movement_id = randomUUID();
    const node_key = changes.node_key ?? 'executor-check';
    return {
      movement_id,
      node_key,
      attempt: 1,
      idempotency_key: `${movement_id}:${node_key}:1`,
      action_type: actionType,
      asset,
      amount,
      config,
      input_params: inputParams,
      intent: { asset, amount },
      completion_assurance: completionAssurance,
      ...(signer === undefined ? {} : { signer }),
      ...changes,
    };
  }

  /** Prepares an action and keeps its prepared bytes, as the service does before every submit. */
  async prepare(context = this.context()): Promise<Action> {
    const answer = await this.call('prepare', () =>
      this.target.executor.prepare(context, this.limits()),
    );
    if (answer.next_state !== 'SUBMITTING') {
      throw new Broken(
        `prepare answered ${answer.next_state}: ${wordsOf(answer)}`,
        'Give --config, --asset and --amount with which the action can be done.',
      );
    }
    if (answer.sign_request !== undefined && this.options.signResult === undefined) {
      throw new Broken(
        'prepare asks for a signature, which the check cannot make',
        'Pass --sign-result with the signature that submit must receive.',
      );
    }
    const prepared_action = answer.prepared_action ?? {};
    return { context: { ...context, prior: { prepared_action } }, prepared_action };
  }

  submit(action: Action, signal?: AbortSignal): Promise<ExecutionResult> {
    return this.call('submit', () =>
      this.target.executor.submit(this.#input(action), this.limits(signal)),
    );
  }

  submitUnheard(action: Action, lost: LossPoint): Promise<void> {
    return this.target.submitUnheard(this.#input(action), lost);
  }

  /** Calls observe until the action ends, with the executor's own pauses. */
  async observeToEnd(action: Action, answer: ExecutionResult): Promise<ExecutionResult> {
    const until = Date.now() + this.options.completeWithin * 1000;
    for (let last = answer; ;) {
      if (last.next_state === 'COMPLETED' || last.next_state === 'FAILED') return last;
      if (Date.now() > until) {
        throw new Broken(
          `observe still says ${last.next_state} after ${this.options.completeWithin} s`,
          'Raise --complete-within if the action may take longer.',
        );
      }
      await sleep(Math.min(last.retry_after_seconds ?? 0.1, MAX_POLL_SECONDS) * 1000);
      const context = after(action, last);
      last = await this.call('observe', () =>
        this.target.executor.observe(context, this.limits(), NO_JOURNAL),
      );
    }
  }

  recover(action: Action): Promise<ExecutionResult> {
    return this.call('recover', () =>
      this.target.executor.recover(action.context, this.limits(), NO_JOURNAL),
    );
  }

  cancel(action: Action, answer: ExecutionResult): Promise<ExecutionResult> {
    return this.call('cancel', () =>
      this.target.executor.cancel(after(action, answer), this.limits()),
    );
  }

  /** Returns how many effects the key has had; undefined without an effects URL. */
  async effects({ context }: Action): Promise<number | undefined> {
    const { effectsUrl, tokenFile } = this.options;
    return effectsUrl === undefined
      ? undefined
      : countEffects(effectsUrl, context.idempotency_key, tokenFile);
  }

  settle(): Promise<void> {
    return sleep(this.options.settleSeconds * 1000);
  }

  /** True when the check started the executor and may kill it. */
  get ownsProcess(): boolean {
    return this.#process !== null;
  }

  async killAndRestart(): Promise<void> {
    await this.#process?.kill();
    await this.start();
  }

  /** Starts the executor with --command and waits until it answers. */
  async start(): Promise<void> {
    if (this.#process === null) return;
    this.#process.start();
    for (const started = Date.now(); ; await sleep(50)) {
      const ended = this.#process.ended();
      if (ended !== null) throw new Broken(ended, 'Run the command by hand to see why it exits.');
      if (await this.#answers()) return;
      if (Date.now() - started > this.options.startTimeout * 1000) {
        throw new Broken(
          `the executor did not answer within ${this.options.startTimeout} s of its start`,
          'Raise --start-timeout if the start may take longer.',
        );
      }
    }
  }

  limits(signal: AbortSignal = new AbortController().signal) {
    return { signal };
  }

  /**
   * Returns whether the executor answers. Temporal lists a killed worker for minutes, so a
   * task-queue executor must answer a call.
   */
  async #answers(): Promise<boolean> {
    if (this.target.kind === 'http')
      return (await this.target.executor.health(this.limits())).state === 'up';
    return this.target.executor.recover(this.context(), this.limits(), NO_JOURNAL).then(
      () => true,
      (fault: unknown) =>
        fault instanceof ExecutorFault && fault.kind !== 'unreachable' && fault.kind !== 'timeout',
    );
  }

  #input({ context, prepared_action }: Action) {
    const { signResult } = this.options;
    return {
      context,
      prepared_action,
      ...(signResult === undefined ? {} : { sign_result: signResult }),
      journal: NO_JOURNAL,
    };
  }

  async call<T>(phase: ExecutorPhase, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof ExecutorFault && error.kind === 'protocol')
        this.formFaults.push({ phase, message: error.message });
      throw error;
    }
  }
}

/** Returns the code and message of a refusal, for a person. */
export function wordsOf({ error_code, error_message }: ExecutionResult): string {
  return [error_code, error_message].filter((part) => part !== undefined).join(', ');
}

function after(
  { context, prepared_action }: Action,
  { external_ref, output }: ExecutionResult,
): ExecutionContext {
  const prior = {
    prepared_action,
    ...(external_ref === undefined ? {} : { external_ref }),
    ...(output === undefined ? {} : { output }),
  };
  return { ...context, prior };
}
