/** `fundctl bridges`: the chains that the bridge connects, and the requirements of each path. */
import { answerOf, command, type Group, type OptionValues } from '../../command-line/command.ts';
import { operation } from '../../command-line/operation.ts';
import { amount, choice, required, text, whole } from '../../command-line/options.ts';
import type { Session } from '../../command-line/session.ts';
import { state } from '../../command-line/view.ts';
import type { Schema } from '../../http/operations.ts';

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
    operation('listBridgeChains', {
      name: 'chains',
      about: 'List the chains that the bridge joins',
      show: chainsText,
    }),
    operation('createBridgeChain', {
      name: 'add-chain',
      about: 'Register a chain (admin)',
      args: CHAIN,
      options: CHAIN_FIELDS,
      ask: 'Register this chain?',
      input: ({ args, options }) => ({ body: { chain: args.chain, ...chainFields(options) } }),
      show: chainText,
    }),
    operation('replaceBridgeChain', {
      name: 'replace-chain',
      about: 'Write a chain anew; another endpoint clears the drills of its paths (admin)',
      args: CHAIN,
      options: CHAIN_FIELDS,
      ask: ({ args }) => `Write ${args.chain} anew?`,
      input: ({ args, options }) => ({ params: args, body: chainFields(options) }),
      show: chainText,
    }),
    operation('deleteBridgeChain', {
      name: 'remove-chain',
      about: 'Remove a chain that no path names (admin)',
      args: CHAIN,
      ask: 'Remove this chain?',
      input: ({ args }) => ({ params: args }),
      show: chainText,
    }),
    operation('listPathBaselines', {
      name: 'baselines',
      about: 'List the paths, with what is required of each',
      show: pathsText,
    }),
    operation('createPathBaseline', {
      name: 'add-baseline',
      about: 'Register a path (admin)',
      args: PATH,
      options: {
        ...PATH_FIELDS,
        enabled: choice(['true', 'false'], 'whether it may be used (true)'),
      },
      ask: 'Register this path?',
      input: ({ args, options }) => ({
        body: {
          ...pathParams(args),
          ...pathFields(options),
          enabled: options.enabled !== 'false',
        },
      }),
      show: pathText,
    }),
    operation('replacePathBaseline', {
      name: 'replace-baseline',
      about: 'Write a path anew: what is left out becomes empty (admin)',
      args: PATH,
      options: {
        ...PATH_FIELDS,
        enabled: required(choice(['true', 'false'], 'whether it may be used')),
      },
      ask: 'Write this path anew?',
      input: ({ args, options }) => ({
        params: pathParams(args),
        body: { ...pathFields(options), enabled: options.enabled === 'true' },
      }),
      show: pathText,
    }),
    operation('deletePathBaseline', {
      name: 'remove-baseline',
      about: 'Remove a path (admin)',
      args: PATH,
      ask: 'Remove this path?',
      input: ({ args }) => ({ params: pathParams(args) }),
      show: pathText,
    }),
    operation('recordDrillPass', {
      name: 'drill-pass',
      about: 'Record that a drill of a path went through; it may then be used (admin)',
      args: PATH,
      options: { evidence: required(text('path', 'where its evidence is kept')) },
      ask: 'Record that the drill has passed?',
      what: ({ args }) => args,
      input: ({ args, options }) => ({
        params: pathParams(args),
        body: { evidence_path: options.evidence },
      }),
      show: pathText,
    }),
    command({
      name: 'refresh',
      about: 'Ask every endpoint what it is (admin)',
      answer: answerOf('refreshBridgeRegistry'),
      run: async ({ session }) => {
        const body = await session.during('Asking the endpoints', () =>
          session.call('refreshBridgeRegistry'),
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

function chainFields(options: OptionValues<typeof CHAIN_FIELDS>) {
  return {
    endpoint_identity: options.endpoint,
    finality_age_seconds: options.finalityAge,
    operator_label: options.label,
  };
}

function pathFields(options: OptionValues<typeof PATH_FIELDS>) {
  return {
    expected_latency_seconds: options.expectedLatency,
    detection_latency_budget_seconds: options.detectionBudget,
    fee_native_budget: options.feeBudget,
    disabled_reason: options.disabledReason,
    baseline_source: options.baselineSource,
    operator_label: options.label,
  };
}

function chainText(session: Session, chain: Chain): Promise<string> {
  return chainsText(session, [chain]);
}

function pathText(session: Session, path: Path): Promise<string> {
  return pathsText(session, [path]);
}

function chainsText(session: Session, chains: readonly Chain[]): Promise<string> {
  return session.table(chains, {
    CHAIN: 'chain',
    ENDPOINT: 'endpoint_identity',
    'FINAL AFTER': { right: (row) => `${String(row.finality_age_seconds)}s` },
    SNAPSHOT: { right: 'snapshot_version' },
    FRESH: (row) => (row.snapshot_stale ? { text: 'stale', tone: 'bad' } : state('yes')),
    LABEL: 'operator_label',
  });
}

function pathsText(session: Session, paths: readonly Path[]): Promise<string> {
  return session.table(paths, {
    FROM: 'src_chain',
    TO: 'dst_chain',
    ASSET: 'asset',
    USABLE: (row) =>
      row.enabled ? state('active') : { text: row.disabled_reason ?? 'off', tone: 'waiting' },
    TAKES: { right: (row) => `${String(row.expected_latency_seconds)}s` },
    'LATE AFTER': { right: (row) => `${String(row.detection_latency_budget_seconds)}s` },
    'FEE AT MOST': { right: 'fee_native_budget' },
    DRILLED: { age: 'last_drill_pass_at' },
  });
}
