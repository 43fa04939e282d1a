/**
 * `npm run contracts`: compiles the contracts of the local bridges to artifacts.ts; with `--check`
 * it only checks that the file is up to date.
 *
 * The compiled contracts are checked in, because the compiler takes seconds to load and every start
 * of a bridge would wait for it. `npm test` compares a digest of the sources, and a slow test
 * compiles again and compares the bytes, so a stale file fails.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ROOT } from '../../../bootstrap/install.mjs';
import { ARTIFACTS_FILE, contractSources, sourcesLine } from './sources.ts';

/** The contracts to compile, keyed by the name of their artifact. */
const CONTRACTS = {
  BURN_TOKEN: 'BurnToken',
  MESSAGE_TRANSMITTER: 'MessageTransmitter',
  TOKEN_MESSENGER: 'TokenMessenger',
  ENDPOINT: 'Endpoint',
  OMNI_TOKEN: 'OmniToken',
} as const;

interface Compiler {
  compile(input: string): string;
  version(): string;
}

interface Parameter {
  readonly name: string;
  readonly type: string;
  readonly indexed?: boolean;
  readonly components?: readonly Parameter[];
}

interface Entry {
  readonly type: 'constructor' | 'error' | 'event' | 'function';
  readonly name?: string;
  readonly inputs?: readonly Parameter[];
  readonly outputs?: readonly Parameter[];
  readonly stateMutability?: string;
}

interface Output {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly abi: readonly Entry[];
            readonly evm: { readonly bytecode: { readonly object: string } };
          }
        >
      >
    >
  >;
}

/** Compiles the contracts and returns the text of artifacts.ts. */
function artifacts(): string {
  const solc = createRequire(join(ROOT, 'package.json'))('solc') as Compiler;
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(contractSources().map(([name, content]) => [name, { content }])),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      evmVersion: 'paris',
      metadata: { bytecodeHash: 'none' },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as Output;
  const faults = (output.errors ?? []).map(({ formattedMessage }) => formattedMessage);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const parts = Object.entries(CONTRACTS).map(([artifact, name]) => {
    const made = output.contracts[`${name}.sol`]?.[name];
    if (made === undefined) throw new Error(`There is no contract ${name}.`);
    return artifactOf(artifact, name, made.abi, made.evm.bytecode.object);
  });
  const head = [
    '// Written by `npm run contracts` from the contracts beside it; not by hand.',
    `// solc ${solc.version()}`,
    sourcesLine(),
    "import { parseAbi } from '../../kit/viem.ts';",
  ];
  return `${[head.join('\n'), ...parts].join('\n\n')}\n`;
}

function artifactOf(
  artifact: string,
  name: string,
  abi: readonly Entry[],
  bytecode: string,
): string {
  const signatures = abi.map((entry) => `    '${signature(entry)}',`).sort();
  const lines = (bytecode.match(/.{1,96}/g) ?? []).map((line) => `    '${line}',`);
  return [
    `/** ${name}.sol: its interface, and what a deployment sends before its arguments. */`,
    `export const ${artifact} = {`,
    '  abi: parseAbi([',
    ...signatures,
    '  ]),',
    '  bytecode: `0x${[',
    ...lines,
    "  ].join('')}`,",
    '} as const;',
  ].join('\n');
}

/**
 * Returns an ABI entry in the human-readable form that `parseAbi` reads, which is shorter than its
 * JSON.
 */
function signature({ type, name, inputs, outputs, stateMutability }: Entry): string {
  const taken = parameters(inputs);
  if (type === 'constructor') return `constructor(${taken})${payable(stateMutability)}`;
  if (type !== 'function') return `${type} ${name ?? ''}(${taken})`;
  const returned = parameters(outputs);
  const mutability =
    stateMutability === undefined || stateMutability === 'nonpayable' ? '' : ` ${stateMutability}`;
  return `function ${name ?? ''}(${taken})${mutability}${returned === '' ? '' : ` returns (${returned})`}`;
}

function payable(mutability: string | undefined): string {
  return mutability === 'payable' ? ' payable' : '';
}

function parameters(list: readonly Parameter[] = []): string {
  return list.map(parameter).join(', ');
}

function parameter({ name, type, indexed, components }: Parameter): string {
  const shape =
    components === undefined ? type : `(${parameters(components)})${type.slice('tuple'.length)}`;
  return [shape, ...(indexed === true ? ['indexed'] : []), ...(name === '' ? [] : [name])].join(
    ' ',
  );
}

const written = artifacts();
if (!process.argv.includes('--check')) writeFileSync(ARTIFACTS_FILE, written);
else if (readFileSync(ARTIFACTS_FILE, 'utf8') !== written) {
  console.error('The contracts give other artifacts: run `npm run contracts`.');
  process.exitCode = 1;
}
