/** Makes the example command lines at the end of each command's help. */
import type { Command } from 'commander';
import type { Leaf } from './command.ts';
import { flagOf, type OptionSpec } from './options.ts';

const ID = '01980c1e-7a3b-7c3e-9d5f-2b1a6c4e8f01';
const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';

/** Sample values, by the name of an argument or of an option's value. */
const SAMPLES: Readonly<Record<string, string>> = {
  address: ADDRESS,
  agentName: 'desk-1',
  asset: 'USDC',
  authorityKey: 'rebalancer',
  chain: 'base',
  'command...': 'movements create',
  decimal: '250.5',
  'eid:address': `30184:${ADDRESS}`,
  executorKey: 'evm.transfer',
  nodeKey: 'withdraw',
  replacement: 'treasury-2',
  seconds: '3600',
  shell: 'bash',
  'signer-key': 'treasury',
  signerKey: 'treasury',
  source: 'base',
  destination: 'arbitrum',
  strategyId: 'basis',
  'strategy-id': 'basis',
  template: 'starter/withdraw-with-gate',
  templateKey: 'starter/withdraw-with-gate',
  text: '"checked with the desk"',
  venue: 'paper-main',
  path: 'evidence/drill-7',
};

/** Returns the examples in the command's spec, else one example with all required options. */
export function examplesOf(path: string, { args, examples, options }: Leaf): readonly string[] {
  if (examples.length > 0) return examples;
  const words = [
    path,
    ...Object.keys(args).map(sampleOf),
    ...Object.entries(options).flatMap(([name, option]) =>
      option.required === true ? [`${flagOf(name)} ${valueOf(option)}`] : [],
    ),
  ];
  return [words.join(' ')];
}

function valueOf({ choices, file, value = '' }: OptionSpec<unknown>): string {
  return choices?.[0] ?? (file === true ? 'request.json' : sampleOf(value));
}

function sampleOf(name: string): string {
  if (SAMPLES[name] !== undefined) return SAMPLES[name];
  return /id$/i.test(name) ? ID : name.toLowerCase().includes('file') ? 'request.json' : name;
}

/** Returns a command's name and arguments for help; `[options]` is left out: all have options. */
export function subcommandTerm(command: Command): string {
  const args = command.registeredArguments.map(
    (each) => `<${each.name()}${each.variadic ? '...' : ''}>`,
  );
  return [command.name(), ...args].join(' ');
}
