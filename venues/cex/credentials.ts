/** Reads an exchange account's API key from disk; refuses a file that others could read. */
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { z } from 'zod';
import { lossesIn } from '../../domain/json-text.ts';
import { describeIssues } from '../../platform/issues.ts';
import { secretOf, type Secret } from './secret.ts';

export interface CexCredentials {
  readonly api_key: Secret;
  readonly secret: Secret;
  readonly password?: Secret;
}

/** Fault of a credentials file; the message names the file and its fields, never their values. */
export class CredentialsError extends Error {
  override readonly name = 'CredentialsError';
}

const LARGEST_BYTES = 16 * 1024;
const field = z
  .string('must be a string')
  .min(1, 'must not be empty')
  .max(8_192, 'is too long')
  .transform((text) => secretOf(text));
const schema = z.strictObject({ api_key: field, secret: field, password: field.exactOptional() });

/** Knows the form of an exchange's keys, as its dialect does. */
interface KeyForm {
  credentialsFault?(keys: CexCredentials): string | null;
}

/**
 * Reads the key in `path`: `{"api_key", "secret", "password"?}` in a regular file of mode 600 that
 * belongs to this process's user. Owner and mode are read from the opened file, so the file cannot
 * be replaced between the check and the read. With `form`, also checks the form of the key.
 *
 * @throws CredentialsError
 */
export async function readCredentials(path: string, form?: KeyForm): Promise<CexCredentials> {
  // Opening a FIFO would block, and a symbolic link could lead to another user's file.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    throw new CredentialsError(`${path} cannot be opened (${error.code ?? 'unknown reason'})`);
  });
  try {
    await checkFile(file, path);
    const keys = parse(await file.readFile('utf8'), path);
    const fault = form?.credentialsFault?.(keys) ?? null;
    if (fault !== null) throw new CredentialsError(`${path}: ${fault}`);
    return keys;
  } finally {
    await file.close();
  }
}

async function checkFile(file: FileHandle, path: string): Promise<void> {
  const stat = await file.stat();
  if (!stat.isFile()) throw new CredentialsError(`${path} is not a regular file`);
  if ((stat.mode & 0o177) !== 0) {
    const mode = (stat.mode & 0o777).toString(8).padStart(3, '0');
    throw new CredentialsError(
      `${path} has mode ${mode}; only its owner may read it: chmod 600 ${path}`,
    );
  }
  if (stat.uid !== process.getuid?.())
    throw new CredentialsError(
      `${path} belongs to another user than the one that runs the service`,
    );
  if (stat.size > LARGEST_BYTES) throw new CredentialsError(`${path} is too large for credentials`);
}

function parse(text: string, path: string): CexCredentials {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    // The parser's message is not used: it quotes the file's text.
    throw new CredentialsError(`${path} is not valid JSON`);
  }
  // Without the name, which may be a misplaced secret.
  if (lossesIn(text).some(({ kind }) => kind === 'repeated'))
    throw new CredentialsError(`${path} has a name more than once`);
  const parsed = schema.safeParse(content);
  if (parsed.success) return parsed.data;
  throw new CredentialsError(`${path}: ${namesOnly(parsed.error).join('; ')}`);
}

/** Returns the faults; unknown keys are not named, since such a key may be a misplaced secret. */
function namesOnly(error: z.ZodError): readonly string[] {
  if (error.issues.some(({ code }) => code === 'unrecognized_keys'))
    return ['it holds more than api_key, secret and password'];
  return describeIssues(error, { whole: 'the file' });
}
