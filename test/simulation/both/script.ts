/** Plays a scenario on a runtime, step by step, and collects what came of it. */
import type { ApiAnswer } from '../service.ts';
import type { Event } from '../runtime/execution.ts';
import { PAYEE, Play, type Answers } from './play.ts';

/** A plan: nodes by key, with what each does, and edges as `from -> to` or `from -type-> to`. */
export interface Plan {
  readonly nodes: Readonly<Record<string, 'keyed' | 'blind' | 'gate' | 'noop' | 'undo'>>;
  readonly edges?: readonly string[];
  /** Fields of every node that pays. */
  readonly more?: object;
}

export type Command = 'approve' | 'reject' | 'cancel' | 'resume' | 'retry';

/** Each step begins when the one before has come true, and the run has nothing to do. */
export type Step =
  | Command
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
  /** Waits until the other worker has started. */
  | 'another'
  | 'closed';

export interface Scenario {
  readonly name: string;
  readonly plan: Plan;
  readonly answers?: Answers;
  readonly approvalSeconds?: number;
  readonly script: readonly Step[];
  /** Whose worker dies: those of a group lose it at the same time. */
  readonly group?: string;
}

/** A runtime on which scenarios are played. */
export interface Host {
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
  /** Resolves when the worker after the last death has started. */
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

/** Milliseconds between two looks. */
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
    runs: plain(await host.runs(id)),
  };
}

class Actor {
  readonly #host: Host;
  readonly #scenario: Scenario;
  readonly #play: Play;
  #id = '';
  #hash: unknown;
  /** Wakes that the runs must have had: the one of the creation, and one for each command. */
  #wakes = 1;

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
    const movement = `/movements/${this.#id}`;
    if (typeof step === 'object') {
      if ('arm' in step) this.#play.arm(step.arm);
      else if ('release' in step) this.#play.release(step.release);
      else if ('pause' in step) await host.sleep(step.pause * 1_000);
      else if ('held' in step) await this.#until(step, async () => this.#play.isHeld(step.held));
      else if ('until' in step)
        await this.#until(step, async () => {
          const seen = await this.#expect('GET', movement);
          return seen['request_state'] === step.until && (await this.#isAtRest());
        });
      else if ('node' in step)
        await this.#until(step, async () => {
          const { nodes } = await this.#expect('GET', movement);
          const found = nodes as readonly { readonly node_key: string; readonly state: string }[];
          const node = found.find(({ node_key }) => node_key === step.node);
          return node?.state === step.is && (await this.#isAtRest());
        });
      else
        await this.#command(`${movement}/nodes/${step.resolve}/actions/resolve`, {
          outcome: step.outcome,
          reason: 'the books of the desk say so',
          evidence: { ticket: '1' },
          ...(step.outcome === 'completed'
            ? { output: { submitted_amount: '12.5', received_amount: '12.5' } }
            : {}),
        });
      return;
    }
    switch (step) {
      case 'approve':
        return this.#command(`${movement}/approve`, {
          compiled_plan_hash: this.#hash,
          approver_id: 'operator',
        });
      case 'reject':
        return this.#command(`${movement}/reject`, { approver_id: 'operator' });
      case 'together':
        return host.together();
      case 'death':
        await host.death();
        return this.#play.drop();
      case 'another':
        return host.another();
      case 'closed':
        return this.#until(step, async () => {
          const runs = await host.runs(this.#id);
          return runs.at(-1)?.status !== 'RUNNING' && wakesOf(runs) >= this.#wakes;
        });
      default:
        return this.#command(`${movement}/actions/${step}`);
    }
  }

  async #command(path: string, body?: unknown): Promise<void> {
    await this.#expect('POST', path, body);
    this.#wakes += 1;
  }

  /** The runs have had every wake, and the newest has no workflow task. */
  async #isAtRest(): Promise<boolean> {
    if (!(await this.#host.isQuiet(this.#id))) return false;
    return wakesOf(await this.#host.runs(this.#id)) >= this.#wakes;
  }

  async #expect(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Record<string, unknown>> {
    const answer = await this.#host.api(method, path, body, headers);
    if (answer.status < 200 || answer.status > 299)
      throw new Error(`${method} ${path}: ${String(answer.status)} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async #until(step: Step, isTrue: () => Promise<boolean>): Promise<void> {
    for (let waited = 0; waited < STEP_MS; waited += LOOK_MS) {
      if (await isTrue()) return;
      await this.#host.sleep(LOOK_MS);
    }
    const { request_state, nodes } = await this.#expect('GET', `/movements/${this.#id}`);
    const seen = (nodes as readonly { node_key: string; state: string }[])
      .map(({ node_key, state }) => `${node_key} ${state}`)
      .join(', ');
    const runs = await this.#host.runs(this.#id);
    const last = runs.at(-1)?.events.map(({ kind }) => kind);
    throw new Error(
      `${this.#scenario.name}: waited in vain for ${JSON.stringify(step)}; it is ` +
        `${String(request_state)}: ${seen}; ${this.#play.calls.join(', ')}; ` +
        `${String(runs.at(-1)?.status)}: ${String(last?.slice(-12).join(' '))}`,
    );
  }
}

function wakesOf(runs: readonly Run[]): number {
  return runs
    .flatMap(({ events }) => events)
    .filter(({ kind, name }) => kind === 'WORKFLOW_EXECUTION_SIGNALED' && name !== 'attention')
    .length;
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
      if (does === 'noop') return { node_key, node_kind: 'action', action_type: 'noop' };
      const action_type = does === 'blind' ? 'blind_desk' : 'keyed_desk';
      return {
        node_key,
        node_kind: does === 'undo' ? 'compensation' : 'action',
        action_type,
        executor_selector: { action_type },
        has_side_effect: true,
        config: { payee: PAYEE },
        ...more,
      };
    }),
    edges: edges.map((edge) => {
      const [, from = '', type, to = ''] = /^(\S+) -(?:(\w+)-)?> (\S+)$/.exec(edge) ?? [];
      return { from, to, edge_type: type ?? 'on_success' };
    }),
    completion_policy: { completion_assurance: 'provider_completed' },
  };
}
