/** Every setting of the service: one schema, parsed once, all faults reported together. */
import { z } from 'zod';
import { normalHost } from '../domain/callbacks/target.ts';
import { createCallbackSigner, SecretError, type CallbackSigner } from './callback-signature.ts';
import { parsePayloadKeys, type PayloadKey } from './payload-keys.ts';
import { parseSecretsKey, type SecretsKey } from './secrets.ts';

const flag = (otherwise: boolean) =>
  z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default(otherwise ? 'true' : 'false')
    .transform((text) => text === 'true');
const whole = (otherwise: number, min: number, max: number) =>
  z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).pipe(z.number().min(min).max(max)).default(otherwise);
const optionalFile = z.string().min(1).optional();
const payloadKeys = z.string().transform((text, context): readonly PayloadKey[] => {
  const parsed = parsePayloadKeys(text);
  if (parsed.ok) return parsed.keys;
  // Without `input`: no fault may carry a key.
  for (const message of parsed.faults) context.addIssue({ code: 'custom', message });
  return z.NEVER;
});
const secretsKeys = z.string().transform((text, context): readonly SecretsKey[] => {
  const parsed = parseSecretsKey(text);
  if (parsed.ok) return parsed.keys;
  for (const message of parsed.faults) context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

/** What a database connection can be told at its start is limited to 10,000 bytes, and it is told this list. */
const HOSTS_LIMIT = 8_000;
const callbackHosts = z
  .string()
  .max(HOSTS_LIMIT, `must have at most ${HOSTS_LIMIT} characters`)
  .transform((csv, context): readonly string[] => {
    const entries = csv.split(',').filter((entry) => entry.trim() !== '');
    return entries.flatMap((entry) => {
      const host = normalHost(entry);
      if (host !== null) return [host];
      context.addIssue(`"${entry.trim()}" is not a host name or address; give it without scheme, port, path or wildcard`);
      return [];
    });
  })
  .default([]);
const callbackSecret = z.string().transform((list, context): CallbackSigner => {
  try {
    return createCallbackSigner(list);
  } catch (error) {
    context.addIssue(error instanceof SecretError ? error.message : 'cannot be used');
    return z.NEVER;
  }
});

const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

const schema = z
  .object({
    SVC_HOST: z.string().min(1).default('127.0.0.1'),
    SVC_PORT: whole(8100, 0, 65_535),
    SVC_OPS_HOST: z.string().min(1).default('127.0.0.1'),
    SVC_OPS_PORT: whole(9465, 0, 65_535),
    SVC_API_PREFIX: z
      .string()
      .regex(/^(\/[A-Za-z0-9._-]+)+$/, 'must look like /v3')
      .default('/v3'),
    SVC_DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, 'must be a postgresql:// URL'),
    SVC_DATABASE_POOL_SIZE: whole(20, 1, 200),
    SVC_TEMPORAL_ADDRESS: z
      .string()
      .regex(/^[^\s/]+:\d+$/, 'must be host:port')
      .default('127.0.0.1:7233'),
    SVC_TEMPORAL_NAMESPACE: z.string().min(1).default('default'),
    SVC_TEMPORAL_UI_URL: z.url({ protocol: /^https?$/ }).default('http://127.0.0.1:8233'),
    SVC_PAYLOAD_KEYS: payloadKeys.default([]),
    SVC_SECRETS_KEY: secretsKeys.default([]),
    SVC_WORKFLOW_CALL_STACKS: flag(false),
    SVC_DATA_DIR: z.string().min(1).default('.data'),
    SVC_AUTH_ENABLED: flag(true),
    SVC_RATE_LIMIT_ENABLED: flag(true),
    SVC_WORKERS_ENABLED: flag(true),
    SVC_APPROVAL_TTL_SECONDS: whole(7_200, 1, 604_800),
    SVC_REGISTRY_FILE: optionalFile,
    SVC_VENUES_FILE: optionalFile,
    SVC_REGISTRY_HEALTH_INTERVAL_SECONDS: whole(30, 1, 3_600),
    SVC_LOCAL_SIGNER_BACKEND: z.enum(['local', 'managed_kms_evm']).optional(),
    SVC_SWEEP_IDLE_SECONDS: whole(15, 1, 3_600),
    SVC_CALLBACK_ALLOWED_HOSTS_CSV: callbackHosts,
    SVC_CALLBACK_HMAC_SECRET: callbackSecret.optional(),
    SVC_CALLBACK_MAX_ATTEMPTS: whole(20, 1, 1_000),
    SVC_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  })
  .superRefine((value, context) => {
    const fault = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
    if (value.SVC_AUTH_ENABLED) {
      fault('SVC_AUTH_ENABLED', 'requests cannot be signed in this release yet; set it to false and keep the service on loopback');
    }
    if (!value.SVC_AUTH_ENABLED && !LOOPBACK.includes(value.SVC_HOST)) {
      fault('SVC_HOST', 'without authentication the service listens on loopback only (127.0.0.1, ::1 or localhost)');
    }
    if (value.SVC_WORKERS_ENABLED && value.SVC_CALLBACK_ALLOWED_HOSTS_CSV.length > 0 && value.SVC_CALLBACK_HMAC_SECRET === undefined) {
      fault('SVC_CALLBACK_HMAC_SECRET', 'callbacks are never sent unsigned: set it, or leave SVC_CALLBACK_ALLOWED_HOSTS_CSV empty');
    }
  });

type Settings = z.output<typeof schema>;

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly opsHost: string;
  readonly opsPort: number;
  readonly apiPrefix: string;
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  readonly temporalUiUrl: string;
  /** Encrypt what Temporal stores; none leaves it as it is. */
  readonly payloadKeys: readonly PayloadKey[];
  /** What the database keeps secret, and what the service vouches for there; see platform/secrets.ts. */
  readonly secretsKeys: readonly SecretsKey[];
  /** Runs keep their call stacks for the Temporal UI. */
  readonly workflowCallStacks: boolean;
  readonly dataDir: string;
  readonly authEnabled: boolean;
  readonly workersEnabled: boolean;
  readonly approvalTtlSeconds: number;
  readonly registryFile: string | undefined;
  readonly venuesFile: string | undefined;
  readonly healthIntervalSeconds: number;
  readonly allowLocalSigners: boolean;
  readonly sweepIdleSeconds: number;
  /** Hosts that callbacks may go to, in normal form. */
  readonly callbackHosts: readonly string[];
  /** Null when no secret is set. */
  readonly callbackSigner: CallbackSigner | null;
  readonly callbackMaxAttempts: number;
  readonly logLevel: Settings['SVC_LOG_LEVEL'];
}

/** Settings that cannot be used; the message names each with its reason. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(['The settings cannot be used:', ...faults.map((fault) => `  - ${fault}`)].join('\n'));
    this.faults = faults;
  }
}

/** Reads the environment. Throws {@link ConfigError} with every fault. An empty value counts as unset. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([name, value]) => name.startsWith('SVC_') && value !== ''));
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`));
  }
  const value = parsed.data;
  return {
    host: value.SVC_HOST,
    port: value.SVC_PORT,
    opsHost: value.SVC_OPS_HOST,
    opsPort: value.SVC_OPS_PORT,
    apiPrefix: value.SVC_API_PREFIX,
    databaseUrl: value.SVC_DATABASE_URL,
    databasePoolSize: value.SVC_DATABASE_POOL_SIZE,
    temporalAddress: value.SVC_TEMPORAL_ADDRESS,
    temporalNamespace: value.SVC_TEMPORAL_NAMESPACE,
    temporalUiUrl: value.SVC_TEMPORAL_UI_URL.replace(/\/+$/, ''),
    payloadKeys: value.SVC_PAYLOAD_KEYS,
    secretsKeys: value.SVC_SECRETS_KEY,
    workflowCallStacks: value.SVC_WORKFLOW_CALL_STACKS,
    dataDir: value.SVC_DATA_DIR,
    authEnabled: value.SVC_AUTH_ENABLED,
    workersEnabled: value.SVC_WORKERS_ENABLED,
    approvalTtlSeconds: value.SVC_APPROVAL_TTL_SECONDS,
    registryFile: value.SVC_REGISTRY_FILE,
    venuesFile: value.SVC_VENUES_FILE,
    healthIntervalSeconds: value.SVC_REGISTRY_HEALTH_INTERVAL_SECONDS,
    allowLocalSigners: value.SVC_LOCAL_SIGNER_BACKEND === 'local',
    sweepIdleSeconds: value.SVC_SWEEP_IDLE_SECONDS,
    callbackHosts: value.SVC_CALLBACK_ALLOWED_HOSTS_CSV,
    callbackSigner: value.SVC_CALLBACK_HMAC_SECRET ?? null,
    callbackMaxAttempts: value.SVC_CALLBACK_MAX_ATTEMPTS,
    logLevel: value.SVC_LOG_LEVEL,
  };
}

/** The environment of this process, for commands that read a part of it. */
export function environment(): NodeJS.ProcessEnv {
  return process.env;
}
