/** Runs the programs of a build, this one's or another's, on a stack of a test. */
import { execFile } from 'node:child_process';
import type { OwnStack } from '../support/own-stack.ts';
import { startServiceProcess, type ServiceProcess } from '../support/service-process.ts';

/** Paths of a build's programs. */
export interface Programs {
  readonly main: string;
  readonly fundadmin: string;
}

export interface Ended {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command of the build's `fundadmin` to its end. */
export function run(
  build: Programs,
  words: string,
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [build.fundadmin, ...words.split(' ')],
      { env: { ...process.env, ...env }, timeout: 120_000 },
      (error, out, err) =>
        resolve({ status: error === null ? 0 : Number(error.code ?? -1), out, err }),
    );
  });
}

/** Starts a process of the build; an API listens where the stack's own would. */
export function startProgram(
  { stack }: OwnStack,
  build: Programs,
  role: 'api' | 'worker',
): Promise<ServiceProcess> {
  const apiPort = role === 'api' ? { apiPort: stack.ports.api } : {};
  return startServiceProcess(stack, role, { program: build.main, ...apiPort });
}
