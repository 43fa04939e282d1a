/** Reads a private key from disk, and refuses a file that others can read. */
import { open } from 'node:fs/promises';

/**
 * Returns the key in `path`: one line of 0x and 64 hex digits. Throws an Error that names the fault
 * of the file but never its content. The permissions are read from the opened file, so that the
 * file cannot be exchanged between check and read.
 */
export async function readPrivateKeyFile(path: string): Promise<string> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      `private_key_file ${path} cannot be opened (${error.code ?? 'unknown reason'})`,
    );
  });
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error(`private_key_file ${path} is not a file`);
    if ((stat.mode & 0o177) !== 0) {
      const mode = (stat.mode & 0o777).toString(8).padStart(3, '0');
      throw new Error(
        `private_key_file ${path} has mode ${mode}; only its owner may read it: chmod 600 ${path}`,
      );
    }
    if (stat.size > 1024) throw new Error(`private_key_file ${path} is too large for a key`);
    const key = (await file.readFile('utf8')).trim();
    if (!/^0x[0-9a-fA-F]{64}$/.test(key))
      throw new Error(`private_key_file ${path} must hold 0x and 64 hex digits`);
    return key;
  } finally {
    await file.close();
  }
}
