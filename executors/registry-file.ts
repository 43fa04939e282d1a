/** Reads the registry file, which declares remote and task-queue executors and signers. */
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { CHAIN_FAMILIES } from '../domain/allowlist/address.ts';
import {
  COMPLETION_ASSURANCES,
  LEAST_ASSURANCES,
  LONGEST_SETTLE_SECONDS,
  LONGEST_USUAL_SECONDS,
  LONGEST_TIMEOUT_SECONDS,
} from '../domain/executor.ts';
import { describeLosses } from '../domain/json-text.ts';
import { isOwnQueue } from '../domain/messages.ts';
import { isBuiltIn } from '../domain/actions/built-in.ts';
import { describeIssues } from '../platform/issues.ts';
import { isLoopbackUrl, serviceUrl } from '../platform/outgoing/url.ts';
import type { RemoteExecutorSettings } from './remote.ts';
import { LEAST_SECRET_BYTES, usableSecret } from './result-signature.ts';
import type { TaskQueueExecutorSettings } from './task-queue.ts';

const key = z
  .string()
  .min(1)
  .max(128)
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._:-]*$/,
    'must be letters, digits and . _ : -, beginning with a letter or digit',
  );
const name = z.string().min(1).max(128);

const fieldPath = z
  .string()
  .min(1)
  .max(256)
  .refine(
    (path) => path.split('.').every((part) => part !== '' && !/\p{Cc}/u.test(part)),
    'must be names joined by dots',
  );

const payee = z.strictObject({
  field: fieldPath,
  family: z.enum(CHAIN_FAMILIES),
  chain_id_field: fieldPath.exactOptional(),
});

/** Schemas of an entry's `payees` and `not_payees`; the executor check reads the same fields. */
export const payeesSchema = z.array(payee).max(20);
export const notPayeesSchema = z.array(fieldPath).max(100);

const shared = {
  executor_key: key,
  timeout_seconds: z.number().min(0.1).max(LONGEST_TIMEOUT_SECONDS).default(30),
  same_key_safe: z.boolean().default(false),
  settle_seconds: z.number().min(0).max(LONGEST_SETTLE_SECONDS).default(0),
  usual_seconds: z.number().min(1).max(LONGEST_USUAL_SECONDS).exactOptional(),
  action_types: z.array(name).min(1).max(100),
  provider: name.exactOptional(),
  chain_family: name.exactOptional(),
  sends: z.boolean().default(true),
  payees: payeesSchema.exactOptional(),
  not_payees: notPayeesSchema.default([]),
  completion_assurances: z
    .array(z.enum(COMPLETION_ASSURANCES))
    .min(1)
    .default([...LEAST_ASSURANCES]),
};
const remote = z.strictObject({
  ...shared,
  kind: z.literal('remote'),
  // Over plain http, an attacker on the network could answer in the executor's place or take the
  // token.
  url: serviceUrl.refine(
    (url) => url.startsWith('https:') || isLoopbackUrl(url),
    'must be https, unless the executor is on this machine',
  ),
  auth_token_file: name.max(4_096).exactOptional(),
});
const taskQueue = z.strictObject({
  ...shared,
  kind: z.literal('task_queue'),
  task_queue: name
    .refine(
      (queue) => queue === queue.trim() && !/\p{Cc}/u.test(queue),
      'must not have control characters or outer spaces',
    )
    .refine((queue) => !isOwnQueue(queue), "must not be the service's own queue"),
  result_secret_file: name.max(4_096).exactOptional(),
});

/** Schema of one entry of `executors`. */
export const executorEntrySchema = z.discriminatedUnion('kind', [remote, taskQueue]);
export type ExecutorEntry = z.infer<typeof executorEntrySchema>;

export interface RegistryFile<Signer> {
  readonly executors: readonly (RemoteExecutorSettings | TaskQueueExecutorSettings)[];
  readonly signers: readonly Signer[];
  /** Folder of the file; relative paths in the file start there. */
  readonly folder: string;
}

/** Thrown with all faults of a registry file; each names its position. */
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
 * `secrets`: `checked` also checks the files with executors' secrets; `left` does not, for a
 * process that calls no executor.
 *
 * @throws RegistryFileError with all faults.
 */
export function readRegistryFile<Signer>(
  file: string,
  signerSchema: z.ZodType<Signer>,
  { secrets }: { readonly secrets: 'checked' | 'left' } = { secrets: 'checked' },
): RegistryFile<Signer> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new RegistryFileError(file, [
      `cannot be read (${error instanceof Error ? error.message : 'unknown fault'})`,
    ]);
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new RegistryFileError(file, ['is not JSON']);
  }
  const losses = describeLosses(text, 'the file');
  if (losses.length > 0) throw new RegistryFileError(file, losses);
  return parseRegistry(file, content, { signerSchema, secrets });
}

function parseRegistry<Signer>(
  file: string,
  content: unknown,
  {
    signerSchema,
    secrets,
  }: { readonly signerSchema: z.ZodType<Signer>; readonly secrets: 'checked' | 'left' },
): RegistryFile<Signer> {
  const folder = dirname(resolve(file));
  const schema = z.strictObject({
    executors: z.array(executorEntrySchema).default([]),
    signers: z.array(signerSchema).default([]),
  });
  const parsed = schema.safeParse(content);
  if (!parsed.success)
    throw new RegistryFileError(file, describeIssues(parsed.error, { whole: 'file' }));
  const problems = [
    ...repeatedKeys(parsed.data.executors),
    ...undeclaredPayees(parsed.data.executors),
  ];
  const executors = parsed.data.executors.map((entry, index) => {
    if (entry.kind === 'task_queue') {
      if (entry.result_secret_file === undefined) return entry;
      const result_secret_file = resolve(folder, entry.result_secret_file);
      if (secrets === 'checked' && !holdsSecret(result_secret_file))
        problems.push(
          `executors[${index}].result_secret_file: ${result_secret_file} cannot be read, or holds fewer than ${String(LEAST_SECRET_BYTES)} bytes`,
        );
      return { ...entry, result_secret_file };
    }
    if (entry.auth_token_file === undefined) return entry;
    const auth_token_file = resolve(folder, entry.auth_token_file);
    if (secrets === 'checked' && !isReadableFile(auth_token_file))
      problems.push(`executors[${index}].auth_token_file: ${auth_token_file} cannot be read`);
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
    return earlier === undefined
      ? []
      : [`executors[${index}].executor_key: already used by executors[${earlier}]`];
  });
}

/**
 * Returns a fault for each entry that sends an action type of its own without `payees`. Only the
 * entry can say whom such a type pays; without it the allowlist could not be applied.
 */
function undeclaredPayees(entries: readonly ExecutorEntry[]): string[] {
  return entries.flatMap((entry, index) => {
    const own = entry.action_types.filter((type) => !isBuiltIn(type));
    if (own.length === 0 || !entry.sends || entry.payees !== undefined) return [];
    return [
      `executors[${index}].payees: must say whom ${own.join(', ')} pays, as in [{"field": "destination_address", "family": "evm"}] ` +
        'for that field of config and prepared action; [] when a plan cannot choose whom; or "sends": false when nothing is moved',
    ];
  });
}

function holdsSecret(path: string): boolean {
  return isReadableFile(path) && usableSecret(readFileSync(path, 'utf8')) !== null;
}

function isReadableFile(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
