/**
 * The paths of movements and capital transfers of which a history is kept, each with how its runs
 * closed.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import proto from '@temporalio/proto';

const HERE = dirname(fileURLToPath(import.meta.url));

export interface Scenario {
  readonly name: string;
  /**
   * An amount that no other scenario has; it must not be found in any history, unless it
   * `crossesTemporal`.
   */
  readonly amount: string;
  /** The state in which each run closed, oldest first. */
  readonly ends: readonly string[];
  /** The input of a team's worker crosses Temporal, which is what payload encryption is for. */
  readonly crossesTemporal?: true;
  /** Recorded on a Temporal server that asks for a new run early. */
  readonly shortHistories?: true;
  /** Recorded by workers that are registered with a build. */
  readonly versioned?: true;
  /** Recorded on a stack with bridges. */
  readonly bridged?: true;
  /**
   * The first release that has it so. Its file is named for that release also before package.json
   * has the version. A history by an earlier release stands beside it.
   */
  readonly since?: string;
}

/** How a run closed that another one follows. */
export const CONTINUED = 'CONTINUED_AS_NEW';

export const SCENARIOS = [
  { name: 'approve-and-complete', amount: '41.7301', ends: ['COMPLETED'] },
  { name: 'reject', amount: '42.7302', ends: ['REJECTED'] },
  { name: 'expire', amount: '43.7303', ends: ['EXPIRED'] },
  { name: 'preflight-failure', amount: '44.7304', ends: ['FAILED'] },
  { name: 'gate-and-resume', amount: '45.7305', ends: ['COMPLETED'] },
  { name: 'cancel', amount: '46.7306', ends: ['CANCELLED'] },
  { name: 'recover-after-lost-answer', amount: '47.7307', ends: ['COMPLETED'] },
  { name: 'recover-to-unknown-and-resume', amount: '48.7308', ends: ['COMPLETED'] },
  { name: 'failed-and-retried', amount: '49.7309', ends: ['FAILED', 'COMPLETED'] },
  { name: 'modules-in-a-chain', amount: '50.7310', ends: ['COMPLETED'] },
  { name: 'lanes-and-join', amount: '51.7311', ends: ['COMPLETED'] },
  { name: 'condition-chooses', amount: '52.7312', ends: ['COMPLETED'] },
  { name: 'executor-of-a-team', amount: '53.7313', ends: ['COMPLETED'], crossesTemporal: true },
  { name: 'lanes-of-a-team', amount: '59.7319', ends: ['COMPLETED'], crossesTemporal: true },
  { name: 'capital-transfer', amount: '54.7314', ends: ['COMPLETED'] },
  { name: 'capital-transfer-lost-and-resolved', amount: '55.7315', ends: ['FAILED'] },
  { name: 'sent-again', amount: '56.7316', ends: ['COMPLETED'] },
  { name: 'unknown-heals-by-itself', amount: '57.7317', ends: ['COMPLETED'] },
  {
    name: 'continued-as-new',
    amount: '58.7318',
    ends: [CONTINUED, 'COMPLETED'],
    crossesTemporal: true,
    shortHistories: true,
  },
  {
    name: 'left-its-build',
    amount: '60.7320',
    ends: [CONTINUED, 'COMPLETED'],
    versioned: true,
  },
  {
    name: 'restarted-for-a-build',
    amount: '61.7321',
    ends: ['WAITING_MANUAL_ACTION', 'COMPLETED'],
    versioned: true,
  },
  {
    name: 'mint-past-failed-check',
    amount: '62.7322',
    ends: ['COMPLETED'],
    bridged: true,
    since: '0.5.0',
  },
  {
    name: 'mint-after-cancel-retried',
    amount: '63.7323',
    ends: ['CANCELLED', 'CANCELLED'],
    bridged: true,
    since: '0.5.0',
  },
] as const satisfies readonly Scenario[];
export type ScenarioName = (typeof SCENARIOS)[number]['name'];
const SECRET_AMOUNTS = (SCENARIOS as readonly Scenario[])
  .filter(({ crossesTemporal }) => crossesTemporal !== true)
  .map(({ amount }) => amount);

export const HISTORIES = join(HERE, 'histories');

/**
 * `<version>-<scenario>.json`: histories of earlier releases stay for as long as their movements
 * may.
 */
export function historyFile(scenario: string): string {
  const { version } = JSON.parse(readFileSync(join(HERE, '..', '..', 'package.json'), 'utf8')) as {
    version: string;
  };
  const { since = version } = scenarioNamed(scenario);
  const isToCome = since.localeCompare(version, 'en', { numeric: true }) > 0;
  return `${isToCome ? since : version}-${scenario}.json`;
}

function scenarioNamed(name: string): Scenario {
  const found = (SCENARIOS as readonly Scenario[]).find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no scenario ${name}`);
  return found;
}

/** The scenario that a file is of. */
export function scenarioOf(file: string): string | undefined {
  return /^\d+\.\d+\.\d+-(.+)\.json$/.exec(file)?.[1];
}

// The form of protobufjs's own objects: the SDK's helpers for JSON fail where it is installed more
// than once.
const { History } = proto.temporal.api.history.v1;
export type History = proto.temporal.api.history.v1.IHistory;

/** A history as plain JSON: enums by name, bytes in base64. */
export function toPlain(history: History): unknown {
  return History.toObject(History.fromObject(history), {
    enums: String,
    longs: String,
    bytes: String,
  });
}

/** What {@link toPlain} made, as the SDK takes it. */
export function fromPlain(plain: RecordedRun['history']): History {
  return History.fromObject(plain);
}

export interface RecordedRun {
  readonly workflow_id: string;
  readonly history: { readonly events: readonly object[] };
}

export interface Recording {
  readonly scenario: string;
  readonly runs: readonly RecordedRun[];
}

/** All that a history says, as text: its fields and what its payloads hold. */
export function readable(value: unknown): string {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? `${value}\n` : '';
  return Object.entries(value)
    .map(([key, inner]) =>
      key === 'data' && typeof inner === 'string'
        ? `${Buffer.from(inner, 'base64').toString('utf8')}\n`
        : readable(inner),
    )
    .join('');
}

/** The runs without what the Temporal UI calls them by, which names the amount. */
export function unnamed(runs: readonly RecordedRun[]): readonly object[] {
  return runs.map(({ workflow_id, history }) => ({
    workflow_id,
    events: history.events.map((event) =>
      'workflowExecutionStartedEventAttributes' in event
        ? { ...event, userMetadata: undefined }
        : event,
    ),
  }));
}

/** What must stand in no history: addresses, hashes, amounts, keys and where it was recorded. */
export function forbiddenIn(text: string): readonly string[] {
  const patterns = [
    /0x[0-9a-f]{40,}/i,
    ...SECRET_AMOUNTS.map((amount) => new RegExp(`${amount.replace('.', '\\.?')}`)),
    /private|secret|password|api_?key/i,
    /postgres(ql)?:\/\//i,
    /https?:\/\//i,
    /\d+@[\w.-]+/,
    /(^|[\s"'(])\/(home|root|tmp|work|Users|usr|var|opt)\//m,
  ];
  return patterns.flatMap((pattern) => {
    const found = pattern.exec(text);
    return found === null ? [] : [text.slice(Math.max(0, found.index - 60), found.index + 80)];
  });
}
