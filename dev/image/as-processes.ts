/** Runs the service as plain processes from the files that the image would contain. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { closeSync, cpSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { tail } from '../bootstrap/command.mjs';
import { npmCommand } from '../bootstrap/install.mjs';
import { layOutProduction } from '../bootstrap/production.mjs';
import { startStep } from '../bootstrap/progress.mjs';
import { ROOT } from '../stack/ports.ts';
import type { Env, Runner } from './movement.ts';

const run = promisify(execFile);

/** Returns a runner whose `prepare` makes `app` a copy of the image's /app. */
export function asProcesses(app: string): Runner {
  const started = new Map<
    string,
    { readonly child: ChildProcess; readonly log: string; ops: string }
  >();
  const around = (env: Env): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    NODE_ENV: 'production',
    ...env,
  });
  const program = (args: readonly string[]): string[] =>
    args[0] === 'node' ? args.slice(1) : [`dist/${args[0] ?? ''}.js`, ...args.slice(1)];
  return {
    prepare: async () => {
      const step = startStep('Installing what production runs');
      layOutProduction(app);
      cpSync(join(ROOT, '.npmrc'), join(app, '.npmrc'));
      const [command = 'npm', ...args] = npmCommand();
      await run(command, [...args, 'ci', '--omit=dev', '--omit=optional'], { cwd: app });
      step.done();
    },
    command: async (env, args) =>
      (await run(process.execPath, program(args), { cwd: app, env: around(env) })).stdout,
    start: async (name, env, args) => {
      const log = join(dirname(app), `${name}.log`);
      const file = openSync(log, 'w');
      const child = spawn(process.execPath, program(args), {
        cwd: app,
        env: around(env),
        stdio: ['ignore', file, file],
      });
      closeSync(file);
      started.set(name, { child, log, ops: env['SVC_OPS_PORT'] ?? '' });
    },
    healthy: async (name, path) => {
      const { child, log = '', ops = '' } = started.get(name) ?? {};
      if (child?.exitCode !== null) throw new Error(`${name} ended:\n${tail(log)}`);
      return fetch(`http://127.0.0.1:${ops}${path}`).then(
        ({ ok }) => ok,
        () => false,
      );
    },
    stop: async (name) => {
      const { child } = started.get(name) ?? {};
      if (child === undefined) return -1;
      const ended = new Promise<number>((resolve) => {
        child.once('exit', (code) => resolve(code ?? -1));
      });
      child.kill('SIGTERM');
      return ended;
    },
    end: async () => {
      for (const { child } of started.values()) child.kill('SIGKILL');
    },
  };
}
