/** GET /movements/{movement_id} */
import { specOf } from '../../domain/actions/built-in.ts';
import { ABANDONED } from '../../domain/attention-reasons.ts';
import type { Requester } from '../../domain/commands/context.ts';
import { shownDestination, type Paying } from '../../domain/allowlist/destinations.ts';
import type { ExecutorDescriptor } from '../../domain/executor.ts';
import { isObject, type JsonObject } from '../../domain/json.ts';
import { kept } from '../../domain/plan/kept.ts';
import type { CompiledNode, CompiledPlan, Intent } from '../../domain/plan/types.ts';
import { sendKey } from '../../domain/send/key.ts';
import { namespaceIn, type Caller } from '../../domain/roles.ts';
import { checksummed } from '../../platform/evm-address.ts';
import { readOpenAllowances, type OpenAllowance } from '../../store/allowances.ts';
import { stored } from '../../store/json.ts';
import type { MovementForApproval } from '../../store/movement-detail.ts';
import type { MovementDetail, NodeRecord } from '../../store/movement-reads.ts';
import { agentOf } from '../../store/namespaces.ts';
import { approvalsOf } from '../approvals/view.ts';
import { coverageOf } from './covered.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { Reply } from '../http/route.ts';
import { visibleForApproval } from '../auth/visible.ts';
import { attentionOf, gateDescription } from './attention.ts';
import { readReview } from './review.ts';
import { shownNaming, withoutSecrets, withoutSecretsInMessage } from '../redact.ts';
import type { DetailResponse, NodeView } from './responses.ts';

/**
 * Returns everything that the caller may see of one movement: read in one statement, and for one
 * that waits for an approval its payees, balances and authority in further ones.
 */
export async function detail(
  input: { readonly params: { readonly movement_id: string }; readonly requester: Requester },
  deps: ApiDependencies,
): Promise<Reply<DetailResponse>> {
  const { requester } = input;
  const read = await visibleForApproval(input.params.movement_id, requester, deps);
  const found = read.movement;
  const [allowed, approval] = await Promise.all([
    openAllowancesOf(found, deps),
    forApproval(read, requester.caller, deps),
  ]);
  const open = allowed.open_allowances ?? [];
  return {
    status: 200,
    body: {
      ...toDetail(read, deps),
      attention: await attentionOf(found, { requester, open }, deps),
      ...allowed,
      ...approval,
    },
  };
}

/** Returns the current data that an approver needs; empty once the movement was decided. */
async function forApproval(
  { movement, waiting }: MovementForApproval,
  caller: Caller,
  deps: ApiDependencies,
): Promise<Pick<DetailResponse, 'agent_authority' | 'review' | 'approvals'>> {
  if (waiting === null) return {};
  const { plan, standing, statuses } = waiting;
  const [authority, review] = await Promise.all([
    authorityOf(movement, plan, deps),
    readReview(withSigners(plan, movement.nodes), statuses, deps),
  ]);
  const approvals = caller.role === 'agent' ? null : approvalsOf(standing, { caller, waits: true });
  return { ...authority, review, ...(approvals === null ? {} : { approvals }) };
}

/**
 * Returns the plan with its nodes' current signers: a rotation may have replaced some. If none was
 * replaced, it is the same object, with which results are kept.
 */
function withSigners(plan: CompiledPlan, current: readonly NodeRecord[]): CompiledPlan {
  const signers = new Map(current.map((node) => [node.node_key, signerOf(node.signer_binding)]));
  const nodes = plan.nodes.map((node) => {
    const signer = signers.get(node.node_key) ?? node.signer_binding;
    return signer?.signer_key === node.signer_binding?.signer_key
      ? node
      : { ...node, signer_binding: signer };
  });
  return nodes.every((node, at) => node === plan.nodes[at]) ? plan : { ...plan, nodes };
}

/**
 * Returns how the agent's current limits cover the plan: they were checked at the create and may
 * have been lowered since.
 */
async function authorityOf(
  { template_key, created_by }: MovementDetail,
  plan: CompiledPlan,
  deps: ApiDependencies,
): Promise<Pick<DetailResponse, 'agent_authority'>> {
  if (created_by['role'] !== 'agent') return {};
  const authority_key = agentOf(namespaceIn(template_key)) ?? '';
  const { limits, grant, uncovered } = await coverageOf(plan, authority_key, deps);
  const { max_notional, allowed_assets, allowed_chains } = limits;
  return {
    agent_authority: {
      authority_key,
      max_notional,
      allowed_assets,
      allowed_chains,
      granted: grant === null ? null : { asset: grant.asset, amount: grant.amount },
      uncovered: uncovered.map(({ code }) => code),
    },
  };
}

/** Returns the open allowances; reads them only if a node has set one, or may have. */
async function openAllowancesOf(
  { movement_id, nodes }: MovementDetail,
  { db }: ApiDependencies,
): Promise<Pick<DetailResponse, 'open_allowances'>> {
  const allows = nodes.some(
    ({ action_type, state, error_code }) =>
      specOf(action_type).allowance && (state === 'COMPLETED' || error_code === ABANDONED),
  );
  const open = allows ? await readOpenAllowances(db, movement_id) : [];
  return open.length === 0 ? {} : { open_allowances: open.map(shownAllowance) };
}

/** Returns the allowance without `signer_key`: the view of the node has it. */
export function shownAllowance({
  signer_key: _signer,
  owner,
  ...shown
}: OpenAllowance): NonNullable<DetailResponse['open_allowances']>[number] {
  return { ...shown, owner: checksummed(owner) };
}

/** Returns the movement as responses show it, without the commands that a person may send. */
function toDetail(
  { movement: found, waiting }: MovementForApproval,
  { executors, settings, redact }: Pick<ApiDependencies, 'executors' | 'settings' | 'redact'>,
): Omit<
  DetailResponse,
  'attention' | 'agent_authority' | 'review' | 'approvals' | 'open_allowances'
> {
  const {
    edge_conditions: _conditions,
    cancellable: _cancellable,
    attention: _attention,
    template_id,
    run_id,
    nodes,
    artifacts,
    ...shown
  } = found;
  const from: ShownFrom = {
    movement: found,
    plan: waiting?.plan ?? null,
    executors: executors.list(),
    redact,
  };
  return {
    ...shown,
    input_params: withoutSecrets(found.input_params, redact),
    labels: withoutSecrets(found.labels, redact),
    ...shownNaming(found, redact),
    error_message: withoutSecretsInMessage(found.error_message, redact),
    template: { template_id, template_key: found.template_key, version: found.template_version },
    nodes: nodes.map((node) => toNodeView(node, from)),
    artifacts: artifacts.map((artifact) => ({
      ...artifact,
      data: withoutSecrets(artifact.data, redact),
    })),
    workflow: workflowOf(found.movement_id, run_id, settings),
  };
}

/** What a node is shown from, besides its own row. */
interface ShownFrom {
  readonly movement: MovementDetail;
  /** Null if the movement does not wait for an approval. */
  readonly plan: CompiledPlan | null;
  readonly executors: readonly ExecutorDescriptor[];
  readonly redact: ApiDependencies['redact'];
}

function toNodeView(
  {
    resumed: _resumed,
    ended_by_stop: _ended,
    config,
    prepared_action,
    original_signer_binding,
    ...node
  }: NodeRecord,
  from: ShownFrom,
): NodeView {
  const { redact } = from;
  return {
    ...node,
    executor_binding: { executor_key: bindingKey(node.executor_binding, 'executor_key') },
    signer_binding: signerOf(node.signer_binding),
    ...(isSame(node.signer_binding, original_signer_binding)
      ? {}
      : { original_signer_binding: signerOf(original_signer_binding) }),
    description: gateDescription({ ...node, config }),
    idempotency_key: sendKey(from.movement.movement_id, node),
    destination: destinationOf({ ...node, config, prepared_action }, from),
    output: node.output === null ? null : withoutSecrets(node.output, redact),
    error_message: withoutSecretsInMessage(node.error_message, redact),
  };
}

/** Returns the address that the node pays; null: none, or not known yet. */
function destinationOf(
  node: Paying['node'] & Pick<NodeRecord, 'executor_binding' | 'prepared_action'>,
  { movement, plan, executors }: ShownFrom,
): string | null {
  const key = bindingKey(node.executor_binding, 'executor_key');
  const executor = executors.find(({ executor_key }) => executor_key === key);
  const planned = plan?.nodes.find(({ node_key }) => node_key === node.node_key);
  if (plan !== null && planned !== undefined && node.prepared_action === null)
    return plannedDestination(planned, plan.intent, plan.input_params, executor);
  return shownDestination({
    node,
    executor,
    intent: stored<Intent>(movement.intent),
    input_params: movement.input_params,
    prepared_action: node.prepared_action,
  });
}

/** The plan's config, intent and parameters are those that the movement shows. */
const plannedDestination = kept(
  (node: CompiledNode, intent: Intent, input_params: JsonObject, executor: Paying['executor']) =>
    shownDestination({ node, executor, intent, input_params }),
);

function isSame(now: unknown, planned: unknown): boolean {
  return signerOf(now)?.signer_key === signerOf(planned)?.signer_key;
}

function signerOf(binding: unknown): { readonly signer_key: string } | null {
  return binding === null ? null : { signer_key: bindingKey(binding, 'signer_key') };
}

/** Returns a binding's key. A binding is stored as an object or a plain key. */
export function bindingKey(binding: unknown, name: string): string {
  const key = isObject(binding) ? binding[name] : binding;
  return typeof key === 'string' ? key : '';
}

/** Returns where the movement's run can be seen in Temporal. */
export function workflowOf(
  movementId: string,
  runId: string | null,
  settings: ApiDependencies['settings'],
): DetailResponse['workflow'] {
  const workflow_id = `movement/${movementId}`;
  const base = `${settings.temporalUiUrl.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(settings.temporalNamespace)}`;
  const run = runId === null ? '' : `/${encodeURIComponent(runId)}/history`;
  return {
    namespace: settings.temporalNamespace,
    workflow_id,
    run_id: runId,
    ui_url: `${base}/workflows/${encodeURIComponent(workflow_id)}${run}`,
  };
}
