/**
 * `fundadmin bridge`: manages the bridge registry in the free edition, which has no API routes for
 * it. The commands are named as in `fundctl bridges`; each prints one JSON value.
 */
import { Option, type Command } from 'commander';
import { endContracts } from '../../domain/bridges/contracts.ts';
import type { BridgePathKey } from '../../domain/bridges/registry.ts';
import {
  createBridgeChain,
  createBridgePath,
  deleteBridgeChain,
  deleteBridgePath,
  listBridgeChains,
  listBridgePaths,
  noteBridgeDrill,
  replaceBridgeChain,
  replaceBridgePath,
} from '../../store/bridge-registry.ts';
import { command } from '../command.ts';
import { DATABASE_OPTION, setting, withDatabase, type DatabaseOption } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';
import { auditOf, chainOf, chainView, pathName, pathOf } from './change.ts';
import { amount, asset, identity, name, seconds, text } from './fields.ts';

interface Change extends DatabaseOption {
  readonly reason: string;
}

interface ChainOptions extends Change {
  readonly endpoint: string;
  readonly finalityAge: number;
  readonly label?: string;
}

interface PathOptions extends Change {
  readonly expectedLatency: number;
  readonly detectionBudget: number;
  readonly feeBudget: string;
  readonly enabled: 'true' | 'false';
  readonly disabledReason?: string;
  readonly baselineSource?: string;
  readonly label?: string;
}

/** Adds the group `bridge` to the program. */
export function addBridgeCommands(program: Command, io: ToolIo): void {
  const bridge = program
    .command('bridge')
    .description('The registry of the bridge: chains, paths, drills.');
  const print = (value: unknown): void => io.out(`${JSON.stringify(value, null, 2)}\n`);

  command(bridge, 'chains', 'reads')
    .description('The chains that the bridge joins.')
    .option(...DATABASE_OPTION)
    .action(async (options: DatabaseOption) => {
      const { now, row } = await withDatabase(options, io, listBridgeChains);
      print(row.map((each) => chainView({ row: each, now }, io)));
    });

  command(bridge, 'baselines', 'reads')
    .description('The paths, with what is required of each.')
    .option(...DATABASE_OPTION)
    .action(async (options: DatabaseOption) => {
      print(await withDatabase(options, io, listBridgePaths));
    });

  for (const [verb, write, description] of [
    ['add', createBridgeChain, 'Add a chain. Its snapshot is stale until a refresh reads it.'],
    [
      'replace',
      replaceBridgeChain,
      'Write a chain anew; what is left out becomes empty, and another endpoint clears the drills of its paths.',
    ],
  ] as const)
    ofChain(command(bridge, `${verb}-chain`, { widens: 'bridge' }), description)
      .requiredOption('--endpoint <eid:address>', 'its endpoint on the bridge', identity)
      .requiredOption('--finality-age <seconds>', 'after how long its blocks are final', seconds)
      .option('--label <text>', 'your own name for it', text(128))
      .action(async (chain: string, options: ChainOptions) => {
        const fields = {
          chain,
          endpoint_identity: options.endpoint,
          finality_age_seconds: options.finalityAge,
          operator_label: options.label ?? null,
        };
        const action = verb === 'add' ? 'bridge_chain.create' : 'bridge_chain.replace';
        const audit = auditOf(action, chain, { reason: options.reason, written: fields }, io);
        const change = await withDatabase(options, io, (db) => write(db, fields, audit));
        print(chainView(chainOf(change, chain), io));
      });

  ofChain(
    command(bridge, 'remove-chain', 'narrows'),
    'Remove a chain at which no path begins or ends.',
  ).action(async (chain: string, options: Change) => {
    const audit = auditOf('bridge_chain.delete', chain, options, io);
    const change = await withDatabase(options, io, (db) => deleteBridgeChain(db, chain, audit));
    print(chainView(chainOf(change, chain), io));
  });

  for (const [verb, write, description] of [
    ['add', createBridgePath, 'Add a path. It may be used once a drill has passed.'],
    ['replace', replaceBridgePath, 'Write a path anew; what is left out becomes empty.'],
  ] as const) {
    const enabled = new Option('--enabled <bool>', 'whether it may be used').choices([
      'true',
      'false',
    ]);
    onPath(command(bridge, `${verb}-baseline`, { widens: 'bridge' }), description)
      .requiredOption('--expected-latency <seconds>', 'how long it takes', seconds)
      .requiredOption('--detection-budget <seconds>', 'after how long a delivery is late', seconds)
      .requiredOption(
        '--fee-budget <decimal>',
        "the most that a send may cost, in the source chain's coin",
        amount,
      )
      // `replace` requires the option: leaving it out must not enable a disabled path again.
      .addOption(verb === 'add' ? enabled.default('true') : enabled.makeOptionMandatory())
      .option('--disabled-reason <text>', 'why it is not to be used', text(1_000))
      .option('--baseline-source <text>', 'where these figures are from', text(256))
      .option('--label <text>', 'your own name for it', text(128))
      .action(async (...[from, to, of, options]: [string, string, string, PathOptions]) => {
        const path = {
          ...keyOf(from, to, of),
          expected_latency_seconds: options.expectedLatency,
          detection_latency_budget_seconds: options.detectionBudget,
          fee_native_budget: options.feeBudget,
          enabled: options.enabled === 'true',
          disabled_reason: options.disabledReason ?? null,
          baseline_source: options.baselineSource ?? null,
          operator_label: options.label ?? null,
        };
        const action = verb === 'add' ? 'bridge_path.create' : 'bridge_path.replace';
        const written = { reason: options.reason, written: path };
        const audit = auditOf(action, pathName(path), written, io);
        print(pathOf(await withDatabase(options, io, (db) => write(db, path, audit)), path));
      });
  }

  onPath(command(bridge, 'remove-baseline', 'narrows'), 'Remove a path.').action(
    async (...[from, to, of, options]: [string, string, string, Change]) => {
      const path = keyOf(from, to, of);
      const audit = auditOf('bridge_path.delete', pathName(path), options, io);
      print(
        pathOf(await withDatabase(options, io, (db) => deleteBridgePath(db, path, audit)), path),
      );
    },
  );

  onPath(
    command(bridge, 'drill-pass', { widens: 'bridge' }),
    'Note that a drill went through a path; it may then be used.',
  )
    .requiredOption('--evidence <path>', 'where its evidence is kept', text(1_024))
    .action(
      async (
        ...[from, to, of, options]: [string, string, string, Change & { evidence: string }]
      ) => {
        const path = keyOf(from, to, of);
        const { evidence, reason } = options;
        const written = { reason, written: { evidence_path: evidence } };
        const audit = auditOf('bridge_path.drill_pass', pathName(path), written, io);
        const drill = { evidence_path: evidence, ends: await boundEnds(io, path.asset) };
        const change = await withDatabase(options, io, (db) =>
          noteBridgeDrill(db, path, drill, audit),
        );
        print(pathOf(change, path));
      },
    );
}

/** Returns the contracts of both ends from the venues file; a drill tests these contracts. */
async function boundEnds(io: ToolIo, of: string): Promise<Readonly<Record<string, string>>> {
  const file = setting(io, 'SVC_VENUES_FILE');
  if (file === undefined)
    throw new ToolError(
      'Set SVC_VENUES_FILE to the venues file of the service: a drill tests the contracts that this file names.',
      { exitCode: 2 },
    );
  // Loaded only here, since no other command needs the venues.
  const { chainAssets, loadVenueBindings } = await import('../../venues/bindings.ts');
  return endContracts(chainAssets(await loadVenueBindings(file)), of);
}

function ofChain(change: Command, description: string): Command {
  return changing(change.description(description).argument('<chain>', 'its name', name(64)));
}

function onPath(change: Command, description: string): Command {
  return changing(
    change
      .description(description)
      .argument('<source>', 'chain that funds leave', name(64))
      .argument('<destination>', 'chain that they reach', name(64))
      .argument('<asset>', 'asset', asset),
  );
}

function changing(change: Command): Command {
  return change
    .requiredOption('--reason <text>', 'why; kept in the audit', text(1_000))
    .option(...DATABASE_OPTION);
}

function keyOf(src_chain: string, dst_chain: string, of: string): BridgePathKey {
  if (src_chain === dst_chain)
    throw new ToolError('A path has two different ends.', { exitCode: 2 });
  return { src_chain, dst_chain, asset: of };
}
