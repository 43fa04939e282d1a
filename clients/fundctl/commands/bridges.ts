/** `fundctl bridges`: which chains the bridge joins, and what is asked of a path. */
import { answerOf, command, type Group } from '../../command-line/command.ts';
import { amount, choice, required, text, whole } from '../../command-line/options.ts';
import { defined } from '../../command-line/paging.ts';
import type { Session } from '../../command-line/session.ts';
import { state } from '../../command-line/view.ts';
import { age } from '../../command-line/words.ts';
import type { Schema } from '../../http/operations.ts';
import { asked, YES } from '../shared.ts';

type Chain = Schema<'BridgeChain'>;
type Path = Schema<'PathBaseline'>;
const CHAIN = { chain: 'name of the chain' };
const PATH = {
  source: 'chain that funds leave',
  destination: 'chain that they reach',
  asset: 'asset',
};

const CHAIN_FIELDS = {
  endpoint: required(text('eid:address', 'its endpoint on the bridge')),
  finalityAge: required(whole('seconds', 'after how long its blocks are final')),
  label: text('text', 'your own name for it'),
};
const PATH_FIELDS = {
  expectedLatency: required(whole('seconds', 'how long it takes')),
  detectionBudget: required(whole('seconds', 'after how long a delivery is late')),
  feeBudget: required(amount("the most that the bridge may ask, in the source chain's coin")),
  disabledReason: text('text', 'why it is not to be used'),
  baselineSource: text('text', 'where these figures are from'),
  label: text('text', 'your own name for it'),
};

export const bridges: Group = {
  name: 'bridges',
  about: "The bridge's registry: chains, paths, drills",
  commands: [
    command({
      name: 'chains',
      about: 'List the chains that the bridge joins',
      answer: answerOf('listBridgeChains'),
      run: async ({ session }) => {
        const client = await session.client();
        const body = await client.call('listBridgeChains');
        await session.print(body, () => chainsText(session, body));
      },
    }),
    command({
      name: 'add-chain',
      about: 'Register a chain (admin)',
      args: CHAIN,
      options: { ...CHAIN_FIELDS, ...YES },
      answer: answerOf('createBridgeChain'),
      run: async ({ session, args, options }) => {
        const body = { chain: args.chain, ...chainFields(options) };
        await asked(session, 'Register this chain?', { body, yes: options.yes });
        const client = await session.client();
        await printChain(session, await client.call('createBridgeChain', { body }));
      },
    }),
    command({
      name: 'replace-chain',
      about: 'Write a chain anew; another endpoint clears the drills of its paths (admin)',
      args: CHAIN,
      options: { ...CHAIN_FIELDS, ...YES },
      answer: answerOf('replaceBridgeChain'),
      run: async ({ session, args, options }) => {
        const body = chainFields(options);
        await asked(session, `Write ${args.chain} anew?`, { body, yes: options.yes });
        const client = await session.client();
        const params = { chain: args.chain };
        await printChain(session, await client.call('replaceBridgeChain', { params, body }));
      },
    }),
    command({
      name: 'remove-chain',
      about: 'Remove a chain that no path names (admin)',
      args: CHAIN,
      options: YES,
      answer: answerOf('deleteBridgeChain'),
      run: async ({ session, args, options }) => {
        await asked(session, 'Remove this chain?', { body: args, yes: options.yes });
        const client = await session.client();
        const params = { chain: args.chain };
        await printChain(session, await client.call('deleteBridgeChain', { params }));
      },
    }),
    command({
      name: 'baselines',
      about: 'List the paths, with what is asked of each',
      answer: answerOf('listPathBaselines'),
      run: async ({ session }) => {
        const client = await session.client();
        const body = await client.call('listPathBaselines');
        await session.print(body, () => pathsText(session, body));
      },
    }),
    command({
      name: 'add-baseline',
      about: 'Register a path (admin)',
      args: PATH,
      options: {
        ...PATH_FIELDS,
        enabled: choice(['true', 'false'], 'whether it may be used (true)'),
        ...YES,
      },
      answer: answerOf('createPathBaseline'),
      run: async ({ session, args, options }) => {
        const body = {
          ...pathParams(args),
          ...pathFields(options),
          enabled: options.enabled !== 'false',
        };
        await asked(session, 'Register this path?', { body, yes: options.yes });
        const client = await session.client();
        await printPath(session, await client.call('createPathBaseline', { body }));
      },
    }),
    command({
      name: 'replace-baseline',
      about: 'Write a path anew: what is left out becomes empty (admin)',
      args: PATH,
      options: {
        ...PATH_FIELDS,
        enabled: required(choice(['true', 'false'], 'whether it may be used')),
        ...YES,
      },
      answer: answerOf('replacePathBaseline'),
      run: async ({ session, args, options }) => {
        const body = { ...pathFields(options), enabled: options.enabled === 'true' };
        await asked(session, 'Write this path anew?', { body, yes: options.yes });
        const client = await session.client();
        const params = pathParams(args);
        await printPath(session, await client.call('replacePathBaseline', { params, body }));
      },
    }),
    command({
      name: 'remove-baseline',
      about: 'Remove a path (admin)',
      args: PATH,
      options: YES,
      answer: answerOf('deletePathBaseline'),
      run: async ({ session, args, options }) => {
        await asked(session, 'Remove this path?', { body: args, yes: options.yes });
        const client = await session.client();
        const params = pathParams(args);
        await printPath(session, await client.call('deletePathBaseline', { params }));
      },
    }),
    command({
      name: 'drill-pass',
      about: 'Record that a drill of a path went through; it may then be used (admin)',
      args: PATH,
      options: { evidence: required(text('path', 'where its evidence is kept')), ...YES },
      answer: answerOf('recordDrillPass'),
      run: async ({ session, args, options }) => {
        await asked(session, 'Record that the drill has passed?', { body: args, yes: options.yes });
        const client = await session.client();
        const params = pathParams(args);
        const body = { evidence_path: options.evidence };
        await printPath(session, await client.call('recordDrillPass', { params, body }));
      },
    }),
    command({
      name: 'refresh',
      about: 'Ask every endpoint what it is (admin)',
      answer: answerOf('refreshBridgeRegistry'),
      run: async ({ session }) => {
        const client = await session.client();
        const body = await session.during('Asking the endpoints', () =>
          client.call('refreshBridgeRegistry'),
        );
        await session.print(body, () => chainsText(session, body.chains));
      },
    }),
  ],
};

type PathArgs = { readonly [K in keyof typeof PATH]: string };

function pathParams({ source, destination, asset }: PathArgs) {
  return { src_chain: source, dst_chain: destination, asset };
}

function chainFields(options: {
  readonly endpoint: string;
  readonly finalityAge: number;
  readonly label: string | undefined;
}) {
  return {
    endpoint_identity: options.endpoint,
    finality_age_seconds: options.finalityAge,
    ...defined({ operator_label: options.label }),
  };
}

function pathFields(options: {
  readonly [K in keyof typeof PATH_FIELDS]: ReturnType<(typeof PATH_FIELDS)[K]['read']>;
}) {
  return {
    expected_latency_seconds: options.expectedLatency,
    detection_latency_budget_seconds: options.detectionBudget,
    fee_native_budget: options.feeBudget,
    ...defined({
      disabled_reason: options.disabledReason,
      baseline_source: options.baselineSource,
      operator_label: options.label,
    }),
  };
}

function printChain(session: Session, chain: Chain): Promise<void> {
  return session.print(chain, () => chainsText(session, [chain]));
}

function printPath(session: Session, path: Path): Promise<void> {
  return session.print(path, () => pathsText(session, [path]));
}

function chainsText(session: Session, chains: readonly Chain[]): Promise<string> {
  return session.table(chains, [
    { title: 'CHAIN', of: (row) => row.chain },
    { title: 'ENDPOINT', of: (row) => row.endpoint_identity },
    { title: 'FINAL AFTER', of: (row) => `${String(row.finality_age_seconds)}s`, right: true },
    { title: 'SNAPSHOT', of: (row) => row.snapshot_version, right: true },
    {
      title: 'FRESH',
      of: (row) => (row.snapshot_stale ? { text: 'stale', tone: 'bad' } : state('yes')),
    },
    { title: 'LABEL', of: (row) => row.operator_label },
  ]);
}

function pathsText(session: Session, paths: readonly Path[]): Promise<string> {
  return session.table(paths, [
    { title: 'FROM', of: (row) => row.src_chain },
    { title: 'TO', of: (row) => row.dst_chain },
    { title: 'ASSET', of: (row) => row.asset },
    {
      title: 'USABLE',
      of: (row) =>
        row.enabled ? state('active') : { text: row.disabled_reason ?? 'off', tone: 'waiting' },
    },
    { title: 'TAKES', of: (row) => `${String(row.expected_latency_seconds)}s`, right: true },
    {
      title: 'LATE AFTER',
      of: (row) => `${String(row.detection_latency_budget_seconds)}s`,
      right: true,
    },
    { title: 'FEE AT MOST', of: (row) => row.fee_native_budget, right: true },
    { title: 'DRILLED', of: (row) => age(row.last_drill_pass_at) },
  ]);
}
