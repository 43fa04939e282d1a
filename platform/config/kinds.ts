/**
 * Kinds of setting values with a special format. A fault of a secret names the position of the
 * error and never quotes the text.
 */
import { accessSync, constants } from 'node:fs';
import { z } from 'zod';
import { readDatabaseAddress } from '../../domain/database-address.ts';
import { isLoopbackHost, normalHost } from '../../domain/callbacks/target.ts';
import { createCallbackSigner, SecretError, type CallbackSigner } from '../callback-signature.ts';
import { parsePayloadKeys, type PayloadKey } from '../payload-keys.ts';
import { parseSecretsKey, type SecretsKeys } from '../secrets.ts';
import { shaped, type Kind, type KindWithNone } from './setting.ts';

export const HOST_AND_PORT = shaped('host:port', /^[^\s/]+:\d+$/, 'must be host:port');

/** Temporal's server refuses `.` and `:` in the name of a deployment. */
export const DEPLOYMENT_NAME = shaped(
  'text',
  /^[A-Za-z0-9][A-Za-z0-9_/-]{0,99}$/,
  'must be at most 100 letters, digits, _, - and /',
);
export const BUILD_ID = shaped(
  'text',
  /^[A-Za-z0-9][A-Za-z0-9_.+/-]{0,99}$/,
  'must be at most 100 letters, digits, _, ., +, - and /',
);

export const DATABASE_URL: Kind<string> = {
  type: '`postgresql://` URL',
  schema: z.string().superRefine((text, context) => {
    const address = readDatabaseAddress(text);
    if ('faults' in address) {
      for (const message of address.faults) context.addIssue({ code: 'custom', message });
      return;
    }
    for (const [parameter, file] of Object.entries(address.tls)) {
      if (parameter === 'mode' || file === null || isReadable(file)) continue;
      context.addIssue({
        code: 'custom',
        message: `ssl${parameter === 'ca' ? 'rootcert' : parameter} names a file that cannot be read`,
      });
    }
    if (address.readOnlyWillDo)
      context.addIssue({
        code: 'custom',
        message: 'target_session_attrs=any may choose a read-only server; remove it',
      });
  }),
  parts: (text) => {
    // Only the first of several servers is parsed here: all have the same password.
    const password = /^[a-z]+:\/\/[^:/?#]*:([^/?#]*)@/.exec(text)?.[1] ?? '';
    return [password, decoded(password) ?? password];
  },
};

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

export const PAYLOAD_KEYS: KindWithNone<readonly PayloadKey[]> = {
  type: 'list of `<id>:<base64 of 32 bytes>`',
  none: [],
  parts: (text) => text.split(',').map((entry) => entry.slice(entry.indexOf(':') + 1).trim()),
  schema: z.string().transform((text, context): readonly PayloadKey[] => {
    const parsed = parsePayloadKeys(text);
    if (parsed.ok) return parsed.keys;
    // The issue has no `input`: no fault may contain a key.
    for (const message of parsed.faults) context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }),
};

export const SECRETS_KEYS: KindWithNone<SecretsKeys> = {
  type: 'list of base64 of 32 bytes',
  none: [],
  schema: z.string().transform((text, context): SecretsKeys => {
    const parsed = parseSecretsKey(text);
    if (parsed.ok) return parsed.keys;
    for (const message of parsed.faults) context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }),
};

/** The origin under which browsers open a page: https, or http of this machine. */
export const ORIGIN: Kind<string> = {
  type: 'https origin, or http of a loopback host',
  schema: z.string().transform((text, context): string => {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (
      url !== null &&
      url.href === `${url.origin}/` &&
      (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname)))
    )
      return url.origin;
    context.addIssue({
      code: 'custom',
      message: 'must be like https://console.example, without a path; http only for localhost',
    });
    return z.NEVER;
  }),
};

/** Postgres limits a connection's startup message, which contains this list, to 10,000 bytes. */
const HOSTS_LIMIT = 8_000;

export const HOSTS: KindWithNone<readonly string[]> = {
  type: 'list of host names and addresses',
  none: [],
  schema: z
    .string()
    .max(HOSTS_LIMIT, `must have at most ${String(HOSTS_LIMIT)} characters`)
    .transform((csv, context): readonly string[] => {
      const entries = csv.split(',').filter((entry) => entry.trim() !== '');
      return entries.flatMap((entry) => {
        const host = normalHost(entry);
        if (host !== null) return [host];
        context.addIssue(
          `"${entry.trim()}" is not a host name or address; give it without scheme, port, path or wildcard`,
        );
        return [];
      });
    }),
};

export const CALLBACK_SECRETS: KindWithNone<CallbackSigner | null> = {
  type: 'list of texts, or of `whsec_` and base64',
  none: null,
  schema: z.string().transform((list, context): CallbackSigner => {
    try {
      return createCallbackSigner(list);
    } catch (error) {
      context.addIssue({
        code: 'custom',
        message: error instanceof SecretError ? error.message : 'cannot be used',
      });
      return z.NEVER;
    }
  }),
};

/** OpenTelemetry's format of headers: `name=value,other=value`, values percent-encoded. */
export const HEADERS: Kind<Readonly<Record<string, string>>> = {
  type: 'list of `<header>=<value>`',
  parts: (list) =>
    list.split(',').flatMap((entry) => {
      const value = entry.slice(entry.indexOf('=') + 1).trim();
      return [value, decoded(value) ?? value];
    }),
  schema: z.string().transform((list, context): Readonly<Record<string, string>> => {
    const headers: Record<string, string> = {};
    for (const [index, entry] of list.split(',').entries()) {
      const [, name, value] = /^\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+)=(.*?)\s*$/.exec(entry) ?? [];
      const meant = value === undefined ? null : headerValue(value);
      if (name !== undefined && meant !== null) headers[name] = meant;
      else
        context.addIssue({
          code: 'custom',
          message: `entry ${String(index + 1)} must be <header>=<value>, percent-encoded`,
        });
    }
    return headers;
  }),
};

/**
 * Returns the decoded value; null for one with control characters, on which every later request
 * would fail.
 */
function headerValue(text: string): string | null {
  const value = decoded(text);
  return value !== null && /^[\x20-\x7e]*$/.test(value) ? value : null;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** A share from 0 (none) to 1 (all). */
export const SHARE: Kind<number> = {
  type: 'number, 0 to 1',
  schema: z
    .string()
    .regex(/^(0|1|0?\.\d{1,6}|1\.0{1,6})$/, 'must be a number from 0 to 1')
    .transform(Number),
};
