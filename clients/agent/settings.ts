/** Reads the settings of an agent's programs from the environment. */
import { readFileSync } from 'node:fs';

export interface AgentSettings {
  readonly apiUrl: string;
  readonly keyId: string;
  readonly secret: string;
  /** Namespace of the agent; null when not set: the service knows the namespace of the key. */
  readonly namespace: string | null;
  /** Authority for proposals: SVC_AUTHORITY_KEY, else from the namespace; null without both. */
  readonly authorityKey: string | null;
}

/** Settings of a program that serves exactly one namespace. */
export type NamespaceSettings = AgentSettings & {
  readonly namespace: string;
  readonly authorityKey: string;
};

export const DEFAULT_API_URL = 'http://localhost:8100';
const NAMESPACE = /^agent\/([A-Za-z0-9][A-Za-z0-9._-]{0,63})$/;
const AUTHORITY = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The environment is wrong. The message lists every problem in one line. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/**
 * Reads the settings and requires a namespace.
 *
 * @throws SettingsError that lists everything missing or wrong.
 */
export function readNamespaceSettings(env: NodeJS.ProcessEnv): NamespaceSettings {
  const { namespace, authorityKey, ...rest } = readAgentSettings(env, ['SVC_AGENT_NAMESPACE']);
  if (namespace === null || authorityKey === null) throw new Error('a namespace is required');
  return { ...rest, namespace, authorityKey };
}

/**
 * Reads the settings. `needed` lists variables that must be set besides the key and its secret.
 *
 * @throws SettingsError that lists everything missing or wrong.
 */
export function readAgentSettings(
  env: NodeJS.ProcessEnv,
  needed: readonly string[] = [],
): AgentSettings {
  const of = (name: string): string => env[name] ?? '';
  const wrong: string[] = [];
  const keyId = of('SVC_KEY_ID');
  const secret = secretOf(of('SVC_HMAC_SECRET_FILE'), of('SVC_HMAC_SECRET'), wrong);
  const namespace = of('SVC_AGENT_NAMESPACE');
  const named = NAMESPACE.exec(namespace)?.[1];
  if (namespace !== '' && named === undefined)
    wrong.push('SVC_AGENT_NAMESPACE must be agent/<authority_key>');
  const authorityKey = of('SVC_AUTHORITY_KEY') || (named ?? '');
  if (authorityKey !== '' && !AUTHORITY.test(authorityKey))
    wrong.push('SVC_AUTHORITY_KEY must be the key of an authority');
  const apiUrl = of('SVC_API_URL') || DEFAULT_API_URL;
  if (!isOrigin(apiUrl))
    wrong.push('SVC_API_URL must be an http or https address without user, password and path');
  const missing = [
    ...(keyId === '' ? ['SVC_KEY_ID'] : []),
    ...(secret === null ? ['SVC_HMAC_SECRET_FILE (or SVC_HMAC_SECRET)'] : []),
    ...needed.filter((name) => of(name) === ''),
  ];
  if (missing.length > 0) wrong.unshift(`missing in the environment: ${missing.join(', ')}`);
  if (wrong.length > 0 || secret === null) throw new SettingsError(wrong.join('; '));
  return {
    apiUrl,
    keyId,
    secret,
    namespace: namespace || null,
    authorityKey: authorityKey || null,
  };
}

/** Returns the secret from `file`, else `value`; null if both are empty. Adds errors to `wrong`. */
function secretOf(file: string, value: string, wrong: string[]): string | null {
  if (file === '') return value === '' ? null : value;
  try {
    const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    if (text !== '') return text;
    wrong.push('the file of SVC_HMAC_SECRET_FILE is empty');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    wrong.push(`the file of SVC_HMAC_SECRET_FILE cannot be read (${code})`);
  }
  return '';
}

/** Returns whether a text is a plain origin. Errors never show the text: it may hold a password. */
function isOrigin(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.username + url.password + url.search + url.hash === '' && url.pathname === '/';
}
