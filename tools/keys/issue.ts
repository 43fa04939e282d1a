/** `fundadmin keys issue`: issues an API key. */
import { randomBytes } from 'node:crypto';
import { isDecimal, isPositive, normalize } from '../../domain/money.ts';
import { agentNamespace, type Role } from '../../domain/roles.ts';
import { sealSecret } from '../../platform/secrets.ts';
import type { AuditEntry } from '../../domain/transition.ts';
import { issueKey, type AuthorityLimits } from '../../store/keys.ts';
import { databaseUrl, setting, withDatabase } from '../database.ts';
import { textOfFile } from '../files.ts';
import { ToolError, type ToolIo } from '../io.ts';
import { toolAudit } from './audit.ts';

export interface IssueOptions {
  readonly clientName: string;
  readonly keyId: string;
  readonly role: Role;
  readonly databaseUrl?: string;
  readonly hmacSecret?: string;
  readonly hmacSecretFile?: string;
  readonly certFingerprint?: string;
  readonly authorityKey?: string;
  readonly maxNotional?: string;
  readonly allowedAssets?: string;
  readonly allowedChains?: string;
  readonly maxTtlSeconds?: string;
  readonly replace?: boolean;
}

/** The printed result; the secret is shown only this once. */
export interface IssuedKey {
  readonly client_id: string;
  readonly client_name: string;
  readonly key_id: string;
  readonly role: Role;
  readonly hmac_secret: string;
  readonly cert_fingerprint: string | null;
  readonly namespace?: string;
  readonly replaced_key_id?: string | null;
  readonly created_at: string;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const AUTHORITY = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const FINGERPRINT = /^[0-9a-f]{64}$/;
/** Allowed length, in characters, of the caller's own secret; a shorter one can be guessed. */
const SECRET_MIN = 32;
const SECRET_MAX = 512;

/** Issues an API key, or throws a {@link ToolError} and writes nothing. */
export async function issue(options: IssueOptions, io: ToolIo): Promise<IssuedKey> {
  databaseUrl(options, io);
  const keys = setting(io, 'SVC_SECRETS_KEY');
  if (keys === undefined)
    throw new ToolError(
      'Set SVC_SECRETS_KEY (or SVC_SECRETS_KEY_FILE) to the value that the service has.',
      { exitCode: 2 },
    );
  named('--client-name', options.clientName, NAME);
  named('--key-id', options.keyId, NAME);
  const authority = authorityOf(options);
  const fingerprint = options.certFingerprint?.replaceAll(':', '').toLowerCase() ?? null;
  if (fingerprint !== null) named('--cert-fingerprint', fingerprint, FINGERPRINT);
  const secret = secretOf(options);
  const outcome = await withDatabase(options, io, (db) =>
    issueKey(db, {
      client_name: options.clientName,
      key_id: options.keyId,
      role: options.role,
      sealed_secret: sealSecret(keys, secret, options.keyId),
      cert_fingerprint: fingerprint,
      authority,
      replace: options.replace === true,
      audit: [toolAudit('api_key.issue', options.keyId)],
      authority_audit: {
        create: authorityAudit('agent_authority.create', authority),
        update: authorityAudit('agent_authority.update', authority),
      },
    }),
  );
  if (!outcome.ok) throw new ToolError(REFUSED[outcome.reason](options));
  return {
    client_id: outcome.client_id,
    client_name: options.clientName,
    key_id: options.keyId,
    role: options.role,
    hmac_secret: secret,
    cert_fingerprint: fingerprint,
    ...(authority === null
      ? {}
      : {
          namespace: agentNamespace(authority.authority_key),
          replaced_key_id: outcome.replaced_key_id,
        }),
    created_at: outcome.created_at,
  };
}

function authorityAudit(
  action: 'agent_authority.create' | 'agent_authority.update',
  authority: AuthorityLimits | null,
): readonly AuditEntry[] {
  return authority === null
    ? []
    : [toolAudit(action, { entity_type: 'agent_authority', entity_key: authority.authority_key })];
}

const REFUSED = {
  key_exists: ({ keyId }: IssueOptions) =>
    `The key id ${keyId} is in use, perhaps by a revoked key; choose another id.`,
  authority_bound: ({ authorityKey }: IssueOptions) =>
    `The authority ${authorityKey ?? ''} has an active key; --replace revokes that one in the same step.`,
} as const;

function authorityOf(options: IssueOptions): AuthorityLimits | null {
  const { role, authorityKey, maxNotional, allowedAssets, allowedChains, maxTtlSeconds, replace } =
    options;
  const limits = [maxNotional, allowedAssets, allowedChains, maxTtlSeconds];
  if (role !== 'agent') {
    if (authorityKey !== undefined || replace === true || limits.some((each) => each !== undefined))
      throw new ToolError('Only a key with --role agent has an authority.', { exitCode: 2 });
    return null;
  }
  if (authorityKey === undefined)
    throw new ToolError('A key with --role agent needs --authority-key.', { exitCode: 2 });
  named('--authority-key', authorityKey, AUTHORITY);
  if (maxNotional !== undefined && !(isDecimal(maxNotional) && isPositive(maxNotional)))
    throw new ToolError('--max-notional must be a decimal greater than zero.', { exitCode: 2 });
  if (maxTtlSeconds !== undefined && !/^[1-9][0-9]{0,8}$/.test(maxTtlSeconds))
    throw new ToolError('--max-ttl-seconds must be a whole number greater than zero.', {
      exitCode: 2,
    });
  return {
    authority_key: authorityKey,
    max_notional: maxNotional === undefined ? null : normalize(maxNotional),
    allowed_assets: listOf(allowedAssets)?.map((asset) => asset.toUpperCase()) ?? null,
    allowed_chains: listOf(allowedChains),
    max_ttl_seconds: maxTtlSeconds === undefined ? null : Number(maxTtlSeconds),
  };
}

function listOf(csv: string | undefined): readonly string[] | null {
  if (csv === undefined) return null;
  return [
    ...new Set(
      csv
        .split(',')
        .map((each) => each.trim())
        .filter((each) => each !== ''),
    ),
  ];
}

function secretOf({ hmacSecret, hmacSecretFile }: IssueOptions): string {
  if (hmacSecret !== undefined && hmacSecretFile !== undefined)
    throw new ToolError('Give --hmac-secret or --hmac-secret-file, not both.', { exitCode: 2 });
  const secret =
    hmacSecretFile === undefined
      ? hmacSecret
      : textOfFile('--hmac-secret-file', hmacSecretFile).replace(/\r?\n$/, '');
  if (secret === undefined) return randomBytes(32).toString('hex');
  if (secret.length < SECRET_MIN || secret.length > SECRET_MAX)
    throw new ToolError(
      `The secret must have ${String(SECRET_MIN)} to ${String(SECRET_MAX)} characters.`,
      { exitCode: 2 },
    );
  return secret;
}

function named(option: string, value: string, form: RegExp): void {
  if (!form.test(value))
    throw new ToolError(`${option} does not fit ${form.source}.`, { exitCode: 2 });
}
