/** Reads and checks the command line of the check. */
import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { COMPLETION_ASSURANCES, type PayeeField } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { issuesLine } from '../../platform/issues.ts';
import { jsonObject } from '../../executors/json-object.ts';
import { notPayeesSchema, payeesSchema } from '../../executors/registry-file.ts';

const object = jsonObject({ maxBytes: 256 * 1024, maxDepth: 32 });
const seconds = z.number().min(0);

const optionsSchema = z.object({
  actionType: z.string(),
  config: object,
  inputParams: object,
  asset: z.string(),
  amount: z.string(),
  completionAssurance: z.enum(COMPLETION_ASSURANCES),
  signer: z
    .object({ signer_key: z.string(), chain_family: z.string(), address: z.string() })
    .exactOptional(),
  signResult: object.exactOptional(),
  tokenFile: z.string().exactOptional(),
  payees: payeesSchema.exactOptional(),
  notPayees: notPayeesSchema,
  sends: z.boolean(),
  sameKeySafe: z.boolean(),
  settleSeconds: seconds,
  timeout: seconds,
  completeWithin: seconds,
  temporalAddress: z.string(),
  namespace: z.string(),
  effectsUrl: z.string().exactOptional(),
  command: z.string().exactOptional(),
  startTimeout: seconds,
  only: z.array(z.string()).exactOptional(),
  json: z.boolean(),
});
export type CheckOptions = z.infer<typeof optionsSchema> & { readonly target: string };

const examples = (command: string): string => `
Examples:
  $ ${command} http://127.0.0.1:8300 --action-type bank_payment --config '{"to":"alice"}' \\
      --payees '[{"field":"to","family":"cex"}]'
  $ ${command} payouts --action-type payout --config @config.json --temporal-address 127.0.0.1:7233
  $ ${command} http://127.0.0.1:8300 --action-type bank_payment --config @config.json \\
      --effects-url 'http://127.0.0.1:8300/effects/{idempotency_key}' --command 'python3 executor.py --port 8300'

It moves real amounts of whatever the executor moves: point it at a test account.
Exit status: 0 every guarantee that was checked holds, 1 one does not, 2 the check could not be run.
What each guarantee means: docs/executors.md`;

/**
 * Returns the command with its options but no action; `words` is how people start it. Commander
 * ends the process on --help; wrong usage exits with 2.
 */
export function checkCommand(words: string): Command {
  return new Command(words)
    .description(
      'Checks that an executor keeps the guarantees that the service relies on: one effect for one key, whatever happens.',
    )
    .argument('<target>', 'URL of an HTTP executor, or the name of a Temporal task queue')
    .requiredOption('--action-type <name>', 'action_type of the test actions')
    .option(
      '--config <json|@file>',
      "the node's config, so that the action can complete",
      parseObject,
      {},
    )
    .option('--input-params <json|@file>', "the movement's input_params", parseObject, {})
    .option('--asset <symbol>', 'the asset to move', 'USDC')
    .option(
      '--amount <decimal>',
      'the amount of each of some twenty test actions',
      parseAmount,
      '1',
    )
    .addOption(
      new Option('--completion-assurance <level>', 'the assurance that every action must reach')
        .choices(COMPLETION_ASSURANCES)
        .default('provider_completed'),
    )
    .option(
      '--signer <json|@file>',
      'signer_key, chain_family and address of a bound signer',
      parseObject,
    )
    .option(
      '--sign-result <json|@file>',
      'the signature that submit receives when prepare requests one',
      parseObject,
    )
    .option('--token-file <path>', 'file with the bearer token (HTTP)')
    .option(
      '--payees <json|@file>',
      'payees of the registry entry: [{"field": "to", "family": "cex"}]',
      parsePayees,
    )
    .option(
      '--not-payees <fields>',
      'not_payees of the registry entry (comma-separated)',
      parseFields,
      [],
    )
    .option('--sends', 'nodes of this executor move funds (default)', true)
    .option('--no-sends', 'the registry entry will say "sends": false: no effect may be counted')
    .option(
      '--same-key-safe',
      'the registry entry will say that a repeated key has no second effect (default)',
      true,
    )
    .option(
      '--no-same-key-safe',
      'the registry entry will say "same_key_safe": false: the check repeats no submit',
    )
    .option('--settle-seconds <n>', 'settle_seconds of the registry entry', parseSeconds, 0)
    .option('--timeout <seconds>', 'time-out of one call', parseSeconds, 30)
    .option(
      '--complete-within <seconds>',
      'how long an action may take until observe says COMPLETED',
      parseSeconds,
      60,
    )
    .addOption(
      new Option('--temporal-address <host:port>', 'Temporal, for a task queue')
        .env('SVC_TEMPORAL_ADDRESS')
        .default('127.0.0.1:7233'),
    )
    .option('--namespace <name>', "the task queue's namespace", 'default')
    .option(
      '--effects-url <template>',
      'URL with {idempotency_key} that answers {"effects": n}: real effects are counted',
    )
    .option(
      '--command <shell command>',
      'starts the executor; it is then killed and restarted to check what survives',
    )
    .option('--start-timeout <seconds>', 'how long --command may take to answer', parseSeconds, 30)
    .option(
      '--only <ids>',
      'run these checks only (comma-separated; health, preflight, prepare and complete always run)',
      (text) => text.split(',').map((id) => id.trim()),
    )
    .option('--json', 'print the verdict as JSON', false)
    .addHelpText('after', examples(words))
    .showHelpAfterError('(--help shows all options)');
}

/** Checks the parsed arguments and returns the options. */
export function readOptions(target: string, values: unknown): CheckOptions {
  const options = optionsSchema.parse(values);
  if (isUrl(target) && !URL.canParse(target))
    throw new InvalidArgumentError(`${target} is not a URL`);
  if (options.effectsUrl !== undefined && !options.effectsUrl.includes('{idempotency_key}')) {
    throw new InvalidArgumentError('--effects-url must contain {idempotency_key}');
  }
  if (options.tokenFile !== undefined) readText(options.tokenFile);
  return { ...options, target };
}

/** Returns whether `target` is an HTTP executor; any other text names a task queue. */
export function isUrl(target: string): boolean {
  return /^https?:\/\//i.test(target);
}

function parseObject(text: string): JsonObject {
  const parsed = object.safeParse(parseJson(text));
  if (!parsed.success) throw new InvalidArgumentError('The value is not a JSON object.');
  return parsed.data;
}

function parsePayees(text: string): readonly PayeeField[] {
  const parsed = payeesSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(
    `The value is no payees of a registry entry: ${issuesLine(parsed.error, { under: 'payees' })}.`,
  );
}

function parseFields(text: string): readonly string[] {
  const parsed = notPayeesSchema.safeParse(text.split(',').map((field) => field.trim()));
  if (!parsed.success) throw new InvalidArgumentError('The value is no list of fields.');
  return parsed.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.startsWith('@') ? readText(text.slice(1)) : text);
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw error;
    throw new InvalidArgumentError('The value is not JSON.');
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new InvalidArgumentError(`${file} cannot be read.`);
  }
}

function parseSeconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('The value is not a number of seconds.');
  return value;
}

function parseAmount(text: string): string {
  if (!/^\d+(\.\d+)?$/.test(text))
    throw new InvalidArgumentError('The value is not a decimal amount.');
  return text;
}
