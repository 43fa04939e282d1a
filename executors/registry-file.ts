/** The registry file: remote and task-queue executors and signers, declared outside the code. */
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { TASK_QUEUE } from '../domain/messages.ts';
import type { RemoteExecutorSettings } from './remote.ts';
import type { TaskQueueExecutorSettings } from './task-queue.ts';

const key = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:-]*$/, 'must be letters, digits and . _ : -, beginning with a letter or digit');
const name = z.string().min(1).max(128);

const url = z.string().superRefine((value, context) => {
  const parsed = URL.canParse(value) ? new URL(value) : null;
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol)) {
    context.addIssue({ code: 'custom', message: 'must be an http or https URL' });
  } else if (parsed.username !== '' || parsed.password !== '') {
    context.addIssue({ code: 'custom', message: 'must not hold credentials; use auth_token_file' });
  } else if (parsed.search !== '' || parsed.hash !== '') {
    context.addIssue({ code: 'custom', message: 'must not have a query or a fragment' });
  }
});

const shared = {
  executor_key: key,
  // Well below the time-outs of the activities that make the calls (workflows/activity-options.ts).
  timeout_seconds: z.number().min(0.1).max(90).default(30),
  same_key_safe: z.boolean().default(false),
  settle_seconds: z.number().min(0).max(86_400).default(0),
  action_types: z.array(name).min(1).max(100),
  provider: name.exactOptional(),
  chain_family: name.exactOptional(),
};
const remote = z.strictObject({
  ...shared,
  kind: z.literal('remote'),
  url,
  auth_token_file: name.max(4_096).exactOptional(),
});
const taskQueue = z.strictObject({
  ...shared,
  kind: z.literal('task_queue'),
  task_queue: name
    .refine((queue) => queue === queue.trim() && !/\p{Cc}/u.test(queue), 'must not have control characters or outer spaces')
    .refine((queue) => queue !== TASK_QUEUE, "must not be the service's own queue"),
});

/** One entry of `executors`. */
export const executorEntrySchema = z.discriminatedUnion('kind', [remote, taskQueue]);
export type ExecutorEntry = z.infer<typeof executorEntrySchema>;

export interface RegistryFile<Signer> {
  readonly executors: readonly (RemoteExecutorSettings | TaskQueueExecutorSettings)[];
  readonly signers: readonly Signer[];
  /** The file's folder, against which relative paths resolve. */
  readonly folder: string;
}

/** All faults of a registry file at once, each naming its place. */
export class RegistryFileError extends Error {
  override readonly name = 'RegistryFileError';
  readonly problems: readonly string[];
  constructor(file: string, problems: readonly string[]) {
    super([`${file} cannot be used:`, ...problems.map((problem) => `  - ${problem}`)].join('\n'));
    this.problems = problems;
  }
}

/**
 * Reads and checks the registry file. `signerSchema` is the schema of one entry of `signers`.
 *
 * @throws RegistryFileError with every fault found.
 */
export function readRegistryFile<Signer>(file: string, signerSchema: z.ZodType<Signer>): RegistryFile<Signer> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new RegistryFileError(file, [`cannot be read (${error instanceof Error ? error.message : 'unknown fault'})`]);
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new RegistryFileError(file, ['is not JSON']);
  }
  return parseRegistry(file, content, signerSchema);
}

function parseRegistry<Signer>(file: string, content: unknown, signerSchema: z.ZodType<Signer>): RegistryFile<Signer> {
  const folder = dirname(resolve(file));
  const schema = z.strictObject({
    executors: z.array(executorEntrySchema).default([]),
    signers: z.array(signerSchema).default([]),
  });
  const parsed = schema.safeParse(content);
  if (!parsed.success) throw new RegistryFileError(file, parsed.error.issues.map(place));
  const problems = [...repeatedKeys(parsed.data.executors)];
  const executors = parsed.data.executors.map((entry, index) => {
    if (entry.kind === 'task_queue' || entry.auth_token_file === undefined) return entry;
    const auth_token_file = resolve(folder, entry.auth_token_file);
    if (!isReadableFile(auth_token_file)) problems.push(`executors[${index}].auth_token_file: ${auth_token_file} cannot be read`);
    return { ...entry, auth_token_file };
  });
  if (problems.length > 0) throw new RegistryFileError(file, problems);
  return { executors, signers: parsed.data.signers, folder };
}

function repeatedKeys(entries: readonly ExecutorEntry[]): string[] {
  const first = new Map<string, number>();
  return entries.flatMap((entry, index) => {
    const earlier = first.get(entry.executor_key);
    if (earlier === undefined) first.set(entry.executor_key, index);
    return earlier === undefined ? [] : [`executors[${index}].executor_key: already used by executors[${earlier}]`];
  });
}

function isReadableFile(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function place(issue: z.core.$ZodIssue): string {
  const path = issue.path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`),
    '',
  );
  return `${path === '' ? 'file' : path}: ${issue.message}`;
}
