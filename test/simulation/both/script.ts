/** Plays a scenario on a runtime, step by step, and collects what came of it. */
import { movementWorkflowId } from '../../../domain/messages.ts';
import type { Temporal } from '../../../platform/temporal.ts';
import type { ApiAnswer } from '../service.ts';
import type { Event } from '../runtime/execution.ts';
import { PAYEE, Play, type Answers } from './play.ts';

/** A desk that a node pays through, or what else it does. */
export type Does = 'keyed' | 'blind' | 'near' | 'watch' | 'gate' | 'noop' | 'undo' | 'report';

/**
 * A plan: nodes by key, with what each does, and edges as `from -> to` or `from -type-> to`,
 * perhaps with ` if <condition>`.
 */
export interface Plan {
  readonly nodes: Readonly<Record<string, Does>>;
  readonly edges?: readonly string[];
  /** Fields of every node that a desk does. */
  readonly more?: object;
}

export type Command = 'approve' | 'reject' | 'cancel' | 'resume' | 'retry' | 'acknowledge';

/** Each step begins when the one before has come true, and the run has nothing to do. */
export type Step =
  | Command
  /** Commands that the movement does not accept now. */
  | { readonly refused: readonly Command[] }
  /** Two people send this command at the same time; one of them is refused. */
  | { readonly twice: Command }
  /** A command whose signal gets lost. */
  | { readonly unsignalled: Command }
  /** The run is signalled without a command, as the service does when a signal may be lost. */
  | 'wake'
  /** The run is signalled that a person is needed. */
  | 'attention'
  | { readonly until: string }
  | { readonly node: string; readonly is: string }
  /** From now on, whoever reaches this point is held there; `held` waits for it. */
  | { readonly arm: string }
  | { readonly held: string }
  | { readonly release: string }
  | { readonly resolve: string; readonly outcome: 'completed' | 'failed' }
  | { readonly pause: number }
  /** Waits until all scenarios that end with the same worker have come so far. */
  | 'together'
  /** The worker dies with all that it was doing, and another one starts. */
  | 'death'
  /** The worker is frozen, and goes on later. */
  | 'freeze'
  /** Waits until the other worker has started, or the frozen one goes on. */
  | 'another'
  | 'closed';

export interface Scenario {
  readonly name: string;
  readonly plan: Plan;
  readonly answers?: Answers;
  readonly approvalSeconds?: number;
  /** A worker extends a task of it; elsewhere only a slow machine does, which is not compared. */
  readonly isExtended?: true;
  readonly script: readonly Step[];
  /** Whose worker dies: those of a group lose it at the same time. */
  readonly group?: string;
}

/** A runtime on which scenarios are played. */
export interface Host {
  readonly temporal: Pick<Temporal, 'wake' | 'tell'>;
  api(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ApiAnswer>;
  sleep(ms: number): Promise<void>;
  query(text: string, values: readonly unknown[]): Promise<readonly object[]>;
  /** Calls for this movement belong to the play. */
  begin(movementId: string, play: Play): void;
  /** Whether the newest run of the movement has no workflow task. */
  isQuiet(movementId: string): Promise<boolean>;
  runs(movementId: string): Promise<readonly Run[]>;
  together(): Promise<void>;
  death(): Promise<void>;
  freeze(): Promise<void>;
  /** Resolves when the worker after the last death has started, or the frozen one goes on. */
  another(): Promise<void>;
}

export interface Run {
  readonly status: string;
  readonly events: readonly Event[];
}

/** What both runtimes must agree on. */
export interface Outcome {
  readonly movement: object;
  readonly nodes: readonly object[];
  readonly timeline: readonly object[];
  readonly calls: readonly string[];
  readonly orders: readonly object[];
  readonly runs: readonly Run[];
}

/** Least milliseconds between two looks. */
const LOOK_MS = 200;
/** Milliseconds that a step may take. */
const STEP_MS = 120_000;

export async function playOn(host: Host, scenario: Scenario): Promise<Outcome> {
  const play = new Play(scenario.answers ?? {});
  const actor = new Actor(host, scenario, play);
  const id = await actor.create();
  for (const step of scenario.script) await actor.take(step);
  const plain = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value).replaceAll(id, 'the movement')) as T;
  const rows = async (text: string): Promise<object[]> =>
    plain([...(await host.query(text, [id]))]);
  const runs = plain(await host.runs(id));
  const [movement = {}] = await rows(
    `SELECT request_state, reservation_status, error_code FROM movements WHERE movement_id = $1`,
  );
  return {
    movement,
    nodes: await rows(
      `SELECT node_key, state, attempt, error_code FROM movement_nodes
        WHERE movement_id = $1 ORDER BY node_key`,
    ),
    timeline: await rows(
      `SELECT sequence, event_type, node_key, attempt, from_state, to_state, message
         FROM timeline_events WHERE movement_id = $1 ORDER BY sequence`,
    ),
    calls: play.calls,
    orders: play.orders,
    runs: scenario.isExtended === true ? runs : runs.map(withoutExtensions),
  };
}

class Actor {
  readonly #host: Host;
  readonly #scenario: Scenario;
  readonly #play: Play;
  #id = '';
  #hash: unknown;
  /** Signals that the runs must have had: the one of the creation, and one for each command. */
  #signals = 1;

  constructor(host: Host, scenario: Scenario, play: Play) {
    this.#host = host;
    this.#scenario = scenario;
    this.#play = play;
  }

  async create(): Promise<string> {
    const { name, plan, approvalSeconds = 600 } = this.#scenario;
    await this.#expect('POST', '/plan-templates', templateOf(name, plan));
    const { movement_id, compiled_plan_hash } = await this.#expect(
      'POST',
      '/movements',
      {
        template_key: keyOf(name),
        template_version: 1,
        intent: { asset: 'USDC', amount: '12.5' },
        strategy_id: 'both',
        approval_ttl_seconds: approvalSeconds,
      },
      { 'idempotency-key': name.replaceAll(/\W+/g, '-') },
    );
    this.#id = String(movement_id);
    this.#hash = compiled_plan_hash;
    this.#host.begin(this.#id, this.#play);
    await this.take({ until: 'PENDING_APPROVAL' });
    return this.#id;
  }

  async take(step: Step): Promise<void> {
    const host = this.#host;
    switch (step) {
      case 'together':
        return host.together();
      case 'death':
        await host.death();
        return this.#play.drop();
      case 'freeze':
        return host.freeze();
      case 'another':
        return host.another();
      case 'closed':
        return this.#until(step, async () => {
          const runs = await host.runs(this.#id);
          return runs.at(-1)?.status !== 'RUNNING' && signalsOf(runs) >= this.#signals;
        });
      case 'wake':
        this.#signals += 1;
        return host.temporal.wake({ movementId: this.#id, kind: 'wake', commandId: null });
      case 'attention':
        this.#signals += 1;
        return host.temporal.tell(movementWorkflowId(this.#id), {
          reason: 'observed_long',
          node_key: null,
        });
      case 'acknowledge':
        return assertDone(await this.#send(step));
      default:
        return typeof step === 'string'
          ? this.#accepted(await this.#send(step))
          : this.#takeAt(step);
    }
  }

  async #takeAt(step: Exclude<Step, string>): Promise<void> {
    const host = this.#host;
    if ('arm' in step) return this.#play.arm(step.arm);
    if ('release' in step) return this.#play.release(step.release);
    if ('pause' in step) return host.sleep(step.pause * 1_000);
    if ('held' in step) return this.#until(step, async () => this.#play.isHeld(step.held));
    if ('until' in step)
      return this.#until(step, async () => {
        const seen = await this.#movement();
        return seen.request_state === step.until && (await this.#isAtRest());
      });
    if ('node' in step)
      return this.#until(step, async () => {
        const { nodes } = await this.#movement();
        const node = nodes.find(({ node_key }) => node_key === step.node);
        return node?.state === step.is && (await this.#isAtRest());
      });
    if ('refused' in step) {
      for (const command of step.refused) assertRefused(await this.#send(command));
      return;
    }
    if ('unsignalled' in step) {
      this.#play.isUnsignalled = true;
      return assertDone(await this.#send(step.unsignalled));
    }
    if ('twice' in step) {
      const answers = await Promise.all([this.#send(step.twice), this.#send(step.twice)]);
      const isDone = answers[0].status < 300;
      assertRefused(answers[isDone ? 1 : 0]);
      return this.#accepted(answers[isDone ? 0 : 1]);
    }
    const { resolve, outcome } = step;
    const amounts = { submitted_amount: '12.5', received_amount: '12.5' };
    this.#accepted(
      await host.api('POST', `${this.#path}/nodes/${resolve}/actions/resolve`, {
        outcome,
        reason: 'the books of the desk say so',
        evidence: { ticket: '1' },
        ...(outcome === 'completed' ? { output: amounts } : {}),
      }),
    );
  }

  get #path(): string {
    return `/movements/${this.#id}`;
  }

  async #movement() {
    return (await this.#expect('GET', this.#path)) as {
      readonly request_state: string;
      readonly nodes: readonly { readonly node_key: string; readonly state: string }[];
    };
  }

  #send(command: Command): Promise<ApiAnswer> {
    const approver_id = 'operator';
    switch (command) {
      case 'approve':
        return this.#host.api('POST', `${this.#path}/approve`, {
          compiled_plan_hash: this.#hash,
          approver_id,
        });
      case 'reject':
        return this.#host.api('POST', `${this.#path}/reject`, { approver_id });
      default:
        return this.#host.api(
          'POST',
          `${this.#path}/actions/${command}`,
          command === 'acknowledge' ? { reason: 'paid by hand' } : undefined,
        );
    }
  }

  #accepted(answer: ApiAnswer): void {
    assertDone(answer);
    this.#signals += 1;
  }

  /** The runs have had every signal, and the newest has no workflow task. */
  async #isAtRest(): Promise<boolean> {
    if (!(await this.#host.isQuiet(this.#id))) return false;
    return signalsOf(await this.#host.runs(this.#id)) >= this.#signals;
  }

  async #expect(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Record<string, unknown>> {
    const answer = await this.#host.api(method, path, body, headers);
    assertDone(answer);
    return answer.body;
  }

  async #until(step: Step, isTrue: () => Promise<boolean>): Promise<void> {
    for (let [waited, pause] = [0, LOOK_MS]; waited < STEP_MS; waited += pause) {
      if (await isTrue()) return;
      // Whoever is held does not wait for long; other looks cost the API time.
      if (!(typeof step === 'object' && 'held' in step))
        pause = Math.max(LOOK_MS, Math.round(waited / 10));
      await this.#host.sleep(pause);
    }
    const { request_state, nodes } = await this.#movement();
    const seen = nodes.map(({ node_key, state }) => `${node_key} ${state}`).join(', ');
    const runs = await this.#host.runs(this.#id);
    const last = runs.at(-1)?.events.map(({ kind }) => kind);
    throw new Error(
      `${this.#scenario.name}: waited in vain for ${JSON.stringify(step)}; it is ` +
        `${request_state}: ${seen}; ${this.#play.calls.join(', ')}; ` +
        `${String(runs.at(-1)?.status)}: ${String(last?.slice(-12).join(' '))}`,
    );
  }
}

/** A task that is completed and at once another one, without a command or anything new. */
function withoutExtensions({ status, events }: Run): Run {
  const isExtension = (at: number): boolean =>
    ['COMPLETED', 'SCHEDULED', 'STARTED'].every(
      (kind, index) => events[at + index]?.kind === `WORKFLOW_TASK_${kind}`,
    );
  return { status, events: events.filter((_, at) => ![at, at - 1, at - 2].some(isExtension)) };
}

function assertDone({ status, body }: ApiAnswer): void {
  if (status < 200 || status > 299) throw new Error(`${String(status)} ${JSON.stringify(body)}`);
}

function assertRefused({ status, body }: ApiAnswer): void {
  if (status !== 409) throw new Error(`not refused: ${String(status)} ${JSON.stringify(body)}`);
}

function signalsOf(runs: readonly Run[]): number {
  const events = runs.flatMap((run) => run.events);
  return events.filter(({ kind }) => kind === 'WORKFLOW_EXECUTION_SIGNALED').length;
}

const keyOf = (name: string): string => `both/${name.replaceAll(/\W+/g, '-')}`;

function templateOf(name: string, { nodes, edges = [], more = {} }: Plan): object {
  return {
    template_key: keyOf(name),
    version: 1,
    name,
    nodes: Object.entries(nodes).map(([node_key, does]) => {
      if (does === 'gate')
        return { node_key, node_kind: 'manual_gate', action_type: 'manual_gate' };
      if (does === 'noop' || does === 'report') {
        const node_kind = does === 'noop' ? 'action' : 'post_action';
        return { node_key, node_kind, action_type: 'noop' };
      }
      const action_type = `${does === 'undo' ? 'keyed' : does}_desk`;
      const pays = does === 'watch' ? {} : { has_side_effect: true, config: { payee: PAYEE } };
      return {
        node_key,
        node_kind: does === 'undo' ? 'compensation' : does === 'watch' ? 'observe' : 'action',
        action_type,
        executor_selector: { action_type },
        ...pays,
        ...more,
      };
    }),
    edges: edges.map((edge) => {
      const [, from, type, to, condition_expr] =
        /^(\S+) -(?:(\w+)-)?> (\S+)(?: if (.+))?$/.exec(edge) ?? [];
      return { from, to, edge_type: type ?? 'on_success', condition_expr };
    }),
    completion_policy: { completion_assurance: 'provider_completed' },
  };
}
