/**
 * An emulator of AWS KMS with real secp256k1 keys, which never leave it: the service sees it as it
 * would see KMS. It listens on this machine alone, and what else it could emulate stays shut.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateAliasCommand,
  CreateKeyCommand,
  KMSClient,
  UpdateAliasCommand,
} from '@aws-sdk/client-kms';
import { freePort } from '../../../dev/stack/ports.ts';
import { Supervisor } from '../../../dev/stack/supervise/supervisor.ts';
import { pythonFor } from '../python.ts';

export const EMULATED_REGION = 'eu-central-1';
/** The emulator takes any; without some the SDK would look for others. */
export const EMULATED_CREDENTIALS = {
  AWS_ACCESS_KEY_ID: 'emulated',
  AWS_SECRET_ACCESS_KEY: 'emulated',
} as const;

export interface KeyEmulator {
  readonly endpoint: string;
  /** Makes a key and, if there is none of that name, the alias for it; else the alias moves. */
  createKey(alias: string): Promise<void>;
  /** Its process is stopped where it stands, and goes on. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  close(): Promise<void>;
}

/** Sets it up when this machine has not had it, and starts it on a free port. */
export async function startKeyEmulator(): Promise<KeyEmulator> {
  const python = await pythonFor(
    {
      name: 'key-emulator-venv',
      requirements: join(import.meta.dirname, 'requirements.txt'),
      called: 'the emulator of a key service',
    },
    AbortSignal.timeout(300_000),
    (line) => process.stderr.write(`${line}\n`),
  );
  const dataDir = mkdtempSync(join(tmpdir(), 'key-emulator-'));
  const supervisor = new Supervisor({ dataDir, restart: false, log: () => undefined });
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${String(port)}`;
  const end = async (): Promise<void> => {
    await supervisor.stopAll();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    await supervisor.add({
      name: 'key-emulator',
      command: python,
      args: ['-m', 'ministack'],
      cwd: dataDir,
      env: {
        BIND_HOST: '127.0.0.1',
        GATEWAY_PORT: String(port),
        SERVICES: 'kms',
        IOT_MTLS_ENABLED: '0',
        SFTP_ENABLED: '0',
        // It would tidy up containers that it takes for its own.
        DOCKER_HOST: `unix://${join(dataDir, 'no-docker')}`,
        TMPDIR: dataDir,
        HOME: dataDir,
        LOG_LEVEL: 'WARNING',
        PYTHONDONTWRITEBYTECODE: '1',
      },
      logFile: join(dataDir, 'log'),
      stage: 1,
      stopSignal: 'SIGKILL',
      stopTimeoutMs: 5_000,
      readyTimeoutMs: 60_000,
      isReady: async () =>
        (await fetch(`${endpoint}/_ministack/ready`).catch(() => null))?.ok === true,
    });
  } catch (error) {
    await end();
    throw error;
  }
  const client = new KMSClient({
    region: EMULATED_REGION,
    endpoint,
    credentials: { accessKeyId: 'emulated', secretAccessKey: 'emulated' },
  });
  const known = new Set<string>();
  return {
    endpoint,
    createKey: async (alias) => {
      const made = await client.send(
        new CreateKeyCommand({ KeySpec: 'ECC_SECG_P256K1', KeyUsage: 'SIGN_VERIFY' }),
      );
      const input = { AliasName: alias, TargetKeyId: made.KeyMetadata?.KeyId };
      await (known.has(alias)
        ? client.send(new UpdateAliasCommand(input))
        : client.send(new CreateAliasCommand(input)));
      known.add(alias);
    },
    freeze: () => supervisor.kill('key-emulator', 'SIGSTOP'),
    thaw: () => supervisor.kill('key-emulator', 'SIGCONT'),
    close: async () => {
      client.destroy();
      await end();
    },
  };
}
