/** Short names: `client.movements.approve(id, body)` calls the operation `approveMovement`. */
import {
  OPERATIONS,
  type AnyInput,
  type BodyOf,
  type CallOptions,
  type DryRunId,
  type OperationId,
  type PagedId,
  type PathNames,
  type PreviewOf,
  type QueryOf,
  type ResultOf,
  type RowOf,
} from './operations.ts';

const GROUPS = {
  movements: {
    create: 'createMovement',
    list: 'listMovements',
    get: 'getMovement',
    graph: 'getMovementGraph',
    timeline: 'getMovementTimeline',
    approve: 'approveMovement',
    withdrawApproval: 'withdrawApproval',
    reject: 'rejectMovement',
    resume: 'resumeMovement',
    retry: 'retryMovement',
    cancel: 'cancelMovement',
    acknowledge: 'acknowledgeMovement',
    resolveNode: 'resolveMovementNode',
    reassignPayment: 'reassignNodePayment',
    cancelTransaction: 'cancelNodeTransaction',
    resetAllowances: 'resetMovementAllowances',
  },
  templates: {
    create: 'createPlanTemplate',
    list: 'listPlanTemplates',
    get: 'getPlanTemplate',
    graph: 'getPlanTemplateGraph',
    update: 'updatePlanTemplateAdmin',
    retire: 'retirePlanTemplate',
  },
  routes: { list: 'listRoutes', recommend: 'recommendRoutes' },
  executors: { list: 'listExecutors', update: 'updateExecutorStatus' },
  signers: {
    list: 'listSigners',
    update: 'updateSignerStatus',
    setIdentity: 'setExpectedSignerIdentity',
    rotate: 'rotateSigner',
    holdings: 'listSignerHoldings',
    allowances: 'listSignerAllowances',
    retire: 'retireSigner',
    history: 'getSignerRotationHistory',
    raiseLaneCaps: 'raiseLaneCaps',
  },
  cutover: { get: 'getCutoverMode', set: 'setCutoverMode' },
  balances: { list: 'listBalances' },
  transfers: {
    create: 'createCapitalTransfer',
    list: 'listCapitalTransfers',
    get: 'getCapitalTransfer',
    timeline: 'getCapitalTransferTimeline',
    resolve: 'resolveCapitalTransfer',
  },
  perpVenue: {
    createMasterAccount: 'createMasterAccount',
    bind: 'createStrategyBinding',
    binding: 'getStrategyBinding',
    createAgent: 'createAgentWallet',
    agents: 'listAgentWallets',
    topUp: 'topUpAgentWallet',
    pause: 'pauseStrategy',
    emergency: 'getEmergencyState',
  },
  policies: {
    create: 'createAutoApprovePolicy',
    list: 'listAutoApprovePolicies',
    get: 'getAutoApprovePolicy',
    update: 'updateAutoApprovePolicy',
  },
  approvals: {
    people: 'listPeople',
    groups: 'listApproverGroups',
    rules: 'listApprovalRules',
    approvers: 'listMovementApprovers',
    challenge: 'challengeMovementApproval',
  },
  passkeys: { list: 'listPasskeys', challenge: 'challengePasskey', offer: 'offerPasskey' },
  changes: {
    list: 'listChangeRequests',
    get: 'getChangeRequest',
    document: 'getChangeRequestDocument',
    challenge: 'challengeChangeRequestApproval',
    approve: 'approveChangeRequest',
    withdrawApproval: 'withdrawChangeRequestApproval',
    reject: 'rejectChangeRequest',
    withdraw: 'withdrawChangeRequest',
  },
  budgets: { get: 'getBudget' },
  callbacks: { list: 'listCallbacks', redeliver: 'redeliverCallback' },
  audit: { list: 'listAuditEvents', registry: 'listRegistryAudit', seal: 'getAuditSeal' },
  registry: { verifyDrift: 'verifyRegistryDrift' },
  authorities: { get: 'getAgentAuthority' },
  proposals: {
    create: 'createTemplateProposal',
    bridge: 'createBridgeAttempt',
    list: 'listTemplateProposals',
    get: 'getTemplateProposal',
    promote: 'promoteTemplateProposal',
  },
  bridge: {
    chains: 'listBridgeChains',
    createChain: 'createBridgeChain',
    chain: 'getBridgeChain',
    replaceChain: 'replaceBridgeChain',
    deleteChain: 'deleteBridgeChain',
    paths: 'listPathBaselines',
    createPath: 'createPathBaseline',
    path: 'getPathBaseline',
    replacePath: 'replacePathBaseline',
    deletePath: 'deletePathBaseline',
    drillPass: 'recordDrillPass',
    refresh: 'refreshBridgeRegistry',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, OperationId>>>>;

type Paths<Id extends OperationId> = (typeof OPERATIONS)[Id]['path'];
type Names<Id extends OperationId> =
  PathNames<Paths<Id>> extends infer Named extends readonly string[]
    ? { [Place in keyof Named]: string }
    : never;
/** Arguments after the path parameters: the body (the query if there is no body), then options. */
type Rest<Id extends OperationId> = [BodyOf<Id>] extends [never]
  ? [query?: QueryOf<Id>, options?: CallOptions]
  : Record<never, never> extends BodyOf<Id>
    ? [body?: BodyOf<Id>, options?: CallOptions]
    : [body: BodyOf<Id>, options?: CallOptions];
type Args<Id extends OperationId> = [...Names<Id>, ...Rest<Id>];
type Method<Id extends OperationId> = (
  ...args: Args<Id>
) => Id extends PagedId ? AsyncIterable<RowOf<Id>> : Promise<ResultOf<Id>>;

type TableGroups = {
  readonly [Group in keyof typeof GROUPS]: {
    readonly [Name in keyof (typeof GROUPS)[Group]]: (typeof GROUPS)[Group][Name] extends infer Id
      ? Id extends OperationId
        ? Method<Id>
        : never
      : never;
  };
};

/** A method for every operation. Arguments: the path parameters, then the body or the query. */
export interface Groups extends Omit<TableGroups, 'movements'> {
  readonly movements: TableGroups['movements'] & {
    /** Returns the plan document byte for byte; its `planHash` is the hash to approve. */
    plan(movementId: string, options?: CallOptions): Promise<string>;
    /** Returns what a create would do; nothing is written. */
    preview(
      body: BodyOf<'createMovement' & DryRunId>,
      options?: CallOptions,
    ): Promise<PreviewOf<'createMovement'>>;
  };
  whoami(options?: CallOptions): Promise<ResultOf<'whoami'>>;
  /** Finds objects that have exactly this text as id, reference, hash, key or address. */
  search(text: string, options?: CallOptions): Promise<ResultOf<'searchAll'>>;
}

interface UntypedCalls {
  call(id: OperationId, input: AnyInput): Promise<unknown>;
  request(id: OperationId, input: AnyInput): Promise<{ readonly text: string }>;
  pages(id: PagedId, input: AnyInput): AsyncIterable<unknown>;
}

/** Returns the groups of methods, which send their requests with these calls. */
export function groupsOver(calls: object): Groups {
  const untyped = calls as UntypedCalls;
  const groups = Object.fromEntries(
    Object.entries(GROUPS).map(([group, names]) => [
      group,
      Object.fromEntries(
        Object.entries(names).map(([name, id]) => [name, methodOf(untyped, id as OperationId)]),
      ),
    ]),
  );
  const plan = async (movement_id: string, options: CallOptions = {}): Promise<string> =>
    (await untyped.request('getMovementPlan', { ...options, params: { movement_id } })).text;
  const preview = (body: unknown, options: CallOptions = {}): Promise<unknown> =>
    untyped.call('createMovement', { ...options, body, dryRun: true });
  return {
    ...groups,
    movements: { ...groups['movements'], plan, preview },
    whoami: (options: CallOptions = {}) => untyped.call('whoami', options),
    search: (q: string, options: CallOptions = {}) =>
      untyped.call('searchAll', { ...options, query: { q } }),
    // The cast is safe: the types come from the table above and from the API document.
  } as Groups;
}

/** Returns an operation's method. Arguments: path parameters, then body or query, then options. */
function methodOf(calls: UntypedCalls, id: OperationId): (...args: unknown[]) => unknown {
  const { method, path, paged } = OPERATIONS[id];
  const names = [...path.matchAll(/\{([^}+]+)\+?\}/g)].map(([, name = '']) => name);
  return (...args) => {
    const params = Object.fromEntries(
      names.map((name, place) => [name, String(args[place] ?? '')]),
    );
    const [data, options = {}] = args.slice(names.length) as [unknown?, CallOptions?];
    const part = method === 'GET' || method === 'DELETE' ? { query: data } : { body: data };
    const input = { ...options, params, ...part } as AnyInput;
    return paged === null ? calls.call(id, input) : calls.pages(id as PagedId, input);
  };
}
