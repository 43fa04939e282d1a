/** Ed25519 keys in PEM files, to sign bundles and to check who signed a bundle. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { ToolError } from '../io.ts';
import { fingerprint } from './bundle.ts';

/**
 * Writes a new key pair to `file` and `<file>.pub`, readable only by their owner; an existing file
 * is never overwritten.
 */
export function makeKey(file: string): {
  readonly private_key: string;
  readonly public_key: string;
  readonly fingerprint: string;
} {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const publicFile = `${file}.pub`;
  try {
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), {
      mode: 0o600,
      flag: 'wx',
    });
    writeFileSync(publicFile, publicKey.export({ type: 'spki', format: 'pem' }), {
      mode: 0o600,
      flag: 'wx',
    });
  } catch (error) {
    throw new ToolError(
      `The key was not written: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
  return { private_key: file, public_key: publicFile, fingerprint: fingerprint(publicKey) };
}

/** Reads the private key in a PEM file. */
export function readPrivateKey(file: string): KeyObject {
  return readKey(file, 'private', createPrivateKey);
}

/** Reads the public key in a PEM file. */
export function readPublicKey(file: string): KeyObject {
  return readKey(file, 'public', createPublicKey);
}

function readKey(
  file: string,
  kind: 'private' | 'public',
  parse: (pem: Buffer) => KeyObject,
): KeyObject {
  let key: KeyObject;
  try {
    key = parse(readFileSync(file));
  } catch (error) {
    // Repeats neither the file's content nor the parser's message: the content may be a key even if
    // it cannot be parsed.
    throw new ToolError(`${file} holds no ${kind} key in PEM, or cannot be read.`, {
      cause: error,
    });
  }
  if (key.asymmetricKeyType !== 'ed25519')
    throw new ToolError(`${file} must be an Ed25519 key (fundadmin audit make-key).`);
  return key;
}
