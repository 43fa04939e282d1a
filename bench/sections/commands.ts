/**
 * How long a person waits for `fundctl`: its help, and a list of this stack's movements, beside a
 * Node that does nothing.
 */
import { spawn } from 'node:child_process';
import { built } from '../../dev/bootstrap/programs.mjs';
import { RATIO } from '../goals.ts';
import type { Section } from './context.ts';

const STARTS = 9;
const QUICK_STARTS = 3;

/** In turns, so that what else the machine does hits all three. */
export const commands: Section = async ({ stack, collect, rounds, quick }) => {
  const env = {
    SVC_API_URL: `http://127.0.0.1:${String(stack.settings.apiPort)}`,
    SVC_KEY_ID: 'bench',
    SVC_HMAC_SECRET: 'bench',
    SVC_CLIENT_CONFIG: '/nonexistent/config.json',
  };
  const program = built('fundctl');
  const kinds = {
    nothing: ['-e', '0'],
    help: [program, '--help'],
    list: [program, 'movements', 'list'],
  } as const;
  const medians: Record<keyof typeof kinds, number[]> = { nothing: [], help: [], list: [] };
  for (let round = 0; round < rounds; round += 1) {
    const times: Record<keyof typeof kinds, number[]> = { nothing: [], help: [], list: [] };
    for (let turn = 0; turn < (quick ? QUICK_STARTS : STARTS); turn += 1)
      for (const kind of ['nothing', 'help', 'list'] as const)
        times[kind].push(await started(kinds[kind], env));
    for (const kind of ['nothing', 'help', 'list'] as const)
      medians[kind].push(middle(times[kind]));
  }
  const ratio = (kind: 'help' | 'list'): readonly number[] =>
    medians[kind].map((each, index) => each / (medians.nothing[index] ?? Number.NaN));
  collect.add('commands', 'node -e 0', 'ms', medians.nothing);
  collect.add('commands', 'fundctl --help', 'ms', medians.help);
  collect.add('commands', 'fundctl movements list', 'ms', medians.list);
  collect.add('commands', RATIO.help, '', ratio('help'));
  collect.add('commands', RATIO.list, '', ratio('list'));
};

/** From its start to its end, in milliseconds. */
function started(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, [...args], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => {
      if (status === 0) resolve(performance.now() - began);
      else reject(new Error(`node ${args.join(' ')} ended with ${String(status)}`));
    });
  });
}

function middle(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
