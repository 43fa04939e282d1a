/**
 * The search attributes by which Temporal finds movements. The service creates them if it is
 * permitted to; otherwise an operator has to.
 */
import type { Logger } from 'pino';
import { SEARCH_ATTRIBUTES } from '../domain/messages.ts';

/** Names of Temporal's IndexedValueType, by number. */
const TYPES = [
  'Unspecified',
  'Text',
  'Keyword',
  'Int',
  'Double',
  'Bool',
  'Datetime',
  'KeywordList',
] as const;
/** The type of all our search attributes. */
const TYPE = 'Keyword';
export const KEYWORD = TYPES.indexOf(TYPE);
const NAMES: readonly string[] = Object.values(SEARCH_ATTRIBUTES);

const PERMISSION_DENIED = 7;
/** The gRPC status with which Temporal Cloud refuses operator calls, even with a valid key. */
const UNAUTHENTICATED = 16;
const ALREADY_EXISTS = 6;
/** The gRPC status of operator calls that a managed server does not offer. */
const UNIMPLEMENTED = 12;
const REFUSED = [PERMISSION_DENIED, UNAUTHENTICATED, UNIMPLEMENTED] as const;

/** The calls needed from a server; each may fail with a gRPC status. */
export interface AttributeServer {
  /** Returns the type numbers of the namespace's own attributes, by name. */
  list(): Promise<Readonly<Record<string, number>>>;
  add(name: string): Promise<void>;
  /**
   * Returns the namespace's table of columns and names (`Keyword01` → name); empty on servers
   * without such a table.
   */
  aliases(): Promise<Readonly<Record<string, string>>>;
}

/** A fault that only an operator can repair; the message says how. */
export class SearchAttributeFault extends Error {
  override readonly name = 'SearchAttributeFault';
}

/**
 * Creates every missing attribute as a Keyword. Repeating the call is harmless, also from several
 * processes.
 */
export async function ensureSearchAttributes(
  server: AttributeServer,
  context: { readonly namespace: string; readonly log: Logger },
): Promise<void> {
  const { namespace, log } = context;
  const before = await known(server);
  const missing = before === null ? NAMES : missingIn(before, namespace);
  if (missing.length === 0) return;
  try {
    for (const name of missing) await add(server, name);
  } catch (error) {
    if (!isStatus(error, ...REFUSED)) throw error;
    const what = `${missing.join(', ')} cannot be registered by this service in namespace ${namespace}`;
    if (before !== null)
      throw new SearchAttributeFault(
        `${what}. An operator has to run:\n  ${createCommand(namespace, missing)}`,
      );
    log.warn(
      { namespace },
      `${what}, and the service cannot see whether they exist. If they do not, run: ${createCommand(namespace, missing)}`,
    );
    return;
  }
  // The server silently accepts a name that another client has just created with another type.
  const after = await known(server);
  if (after !== null) missingIn(after, namespace);
  log.info({ namespace, names: missing }, 'search attributes were registered');
}

async function add(server: AttributeServer, name: string): Promise<void> {
  try {
    await server.add(name);
  } catch (error) {
    if (!isStatus(error, ALREADY_EXISTS)) throw error;
  }
}

/** Returns the types of existing attributes, by name; null when the server refuses the query. */
async function known(server: AttributeServer): Promise<ReadonlyMap<string, string> | null> {
  try {
    return new Map(
      Object.entries(await server.list()).map(([name, type]) => [
        name,
        TYPES[type] ?? `type ${String(type)}`,
      ]),
    );
  } catch (error) {
    if (!isStatus(error, ...REFUSED)) throw error;
  }
  const aliases = Object.entries(await server.aliases());
  return aliases.length === 0
    ? null
    : new Map(aliases.map(([column, name]) => [name, column.replace(/\d+$/, '')]));
}

/** Returns our attributes that are missing. Throws when an attribute exists with another type. */
function missingIn(existing: ReadonlyMap<string, string>, namespace: string): readonly string[] {
  const wrong = NAMES.filter((name) => existing.has(name) && existing.get(name) !== TYPE);
  if (wrong.length > 0) {
    const list = wrong.map((name) => `${name} (${existing.get(name) ?? ''})`).join(', ');
    const remove = `temporal operator search-attribute remove --yes --namespace ${namespace} ${wrong.map((name) => `--name ${name}`).join(' ')}`;
    throw new SearchAttributeFault(
      `search attributes exist in namespace ${namespace} with another type than ${TYPE}: ${list}. ` +
        `If nothing else uses them, an operator has to run:\n  ${remove}\n  ${createCommand(namespace, wrong)}`,
    );
  }
  return NAMES.filter((name) => !existing.has(name));
}

function createCommand(namespace: string, names: readonly string[]): string {
  const each = (write: (name: string) => string): string => names.map(write).join(' ');
  return [
    `temporal operator search-attribute create --namespace ${namespace} ${each((name) => `--name ${name} --type ${TYPE}`)}`,
    `or, in Temporal Cloud:\n  tcld namespace search-attributes add --namespace ${namespace} ${each((name) => `--search-attribute "${name}=${TYPE}"`)}`,
  ].join('\n  ');
}

/** Returns whether an error, or one of its causes, has one of these gRPC status codes. */
function isStatus(error: unknown, ...codes: readonly number[]): boolean {
  for (let at = error; typeof at === 'object' && at !== null; at = Reflect.get(at, 'cause')) {
    const code: unknown = Reflect.get(at, 'code');
    if (typeof code === 'number' && codes.includes(code)) return true;
  }
  return false;
}
