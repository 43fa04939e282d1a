/** Runs the service in containers of its image. */
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { tail } from '../bootstrap/command.mjs';
import { follow, podman, STRICT, TAG } from './containers.ts';
import type { Env, Runner } from './movement.ts';

const USER = 65532;
const MOUNTED = '/run/service';
/** Settings passed as mounted files, since other users can read a container's environment. */
const AS_FILES = ['SVC_DATABASE_URL', 'SVC_DATABASE_OWNER_URL'];

/** Returns a runner with containers. `folder` is mounted, readable only by the image's user. */
export function inContainers(folder: string): Runner {
  const started = new Map<string, { readonly name: string; readonly log: string }>();
  const suffix = `${String(process.pid)}`;
  const containerOf = (name: string) => `fmo-check-${name}-${suffix}`;
  const options = (env: Env): string[] => [
    ...STRICT,
    ...['--volume', `${folder}:${MOUNTED}:ro`],
    ...Object.entries(mounted(folder, env)).flatMap(([name, value]) => [
      '--env',
      `${name}=${value}`,
    ]),
  ];
  return {
    prepare: async () => {
      mkdirSync(folder, { recursive: true });
    },
    command: async (env, args) => {
      try {
        return (await podman('run', '--rm', ...options(env), TAG, ...args)).stdout;
      } catch (error) {
        throw new Error(`${args.join(' ')}: ${outputOf(error)}`, { cause: error });
      }
    },
    start: async (name, env, args) => {
      const log = join(dirname(folder), `${name}.log`);
      const file = openSync(log, 'w');
      follow(['run', '--name', containerOf(name), ...options(env), TAG, ...args], file);
      closeSync(file);
      started.set(name, { name: containerOf(name), log });
    },
    healthy: async (name, path) => {
      const { name: container = '', log = '' } = started.get(name) ?? {};
      try {
        // The image's own health check, which an orchestrator would run repeatedly.
        if (path === '/healthz') await podman('healthcheck', 'run', container);
        else await podman('exec', container, 'healthy', path);
        return true;
      } catch {
        const { stdout } = await podman(
          'ps',
          '--all',
          '--format',
          '{{.State}}',
          '--filter',
          `name=${container}`,
        );
        if (stdout.trim() === 'exited') throw new Error(`${name} ended:\n${tail(log)}`);
        return false;
      }
    },
    stop: async (name) => {
      const container = containerOf(name);
      await podman('stop', '--time', '60', container);
      const { stdout } = await podman('inspect', '--format', '{{.State.ExitCode}}', container);
      return Number(stdout.trim());
    },
    end: async () => {
      for (const { name } of started.values())
        await podman('rm', '--force', '--time', '5', name).catch(() => undefined);
    },
  };
}

/** Returns the environment inside the container; copies its files into the mounted folder. */
function mounted(folder: string, env: Env): Env {
  const inside: Record<string, string> = {};
  const put = (name: string, content: string): string => {
    const file = join(folder, name);
    writeFileSync(file, content);
    chmodSync(file, 0o400);
    chownSync(file, USER, USER);
    return `${MOUNTED}/${name}`;
  };
  for (const [name, value] of Object.entries(env))
    if (AS_FILES.includes(name)) inside[`${name}_FILE`] = put(name, value);
    else if (!name.endsWith('_FILE') || value === '') inside[name] = value;
    else inside[name] = put(basename(value), readFileSync(value, 'utf8'));
  for (const name of AS_FILES.filter((each) => each in env)) delete inside[name];
  // Paths of key files are relative to the registry file.
  const registry = env['SVC_REGISTRY_FILE'];
  if (registry !== undefined)
    for (const file of keyFiles(readFileSync(registry, 'utf8')))
      put(file, readFileSync(join(dirname(registry), file), 'utf8'));
  return inside;
}

function keyFiles(registry: string): string[] {
  const { signers } = JSON.parse(registry) as { signers: { private_key_file?: string }[] };
  return signers.flatMap(({ private_key_file: file }) => (file === undefined ? [] : [file]));
}

function outputOf(error: unknown): string {
  const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
  return `${stdout}${stderr}`.trim() || String(error);
}
