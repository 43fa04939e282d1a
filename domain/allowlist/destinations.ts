/**
 * Finds the addresses that a node pays. They come from its config (which already contains
 * `input_params.node_config`), the intent, the input parameters, what its executor prepared or
 * reported, and its sign request. Addresses are returned as written; normalise them before
 * comparing.
 */
import { isBuiltIn, specOf } from '../actions/built-in.ts';
import type { PayeeSpec } from '../actions/spec.ts';
import type { SignRequest } from '../executor.ts';
import { isObject, type JsonObject } from '../json.ts';
import { takesBack } from '../plan/amount.ts';
import type { CompiledNode, Intent } from '../plan/types.ts';
import type { Destination } from './destination.ts';
import { declaredBeside, ownDestinations, type DeclaredPayees } from './declared.ts';
import { payeesIn } from './payees.ts';
import { signedChain, signedPayees } from './signed.ts';
import { unpadded } from './unpadded.ts';

/** What is known about a node now. Before the node runs, only its plan is known. */
export interface Paying {
  readonly node: Pick<CompiledNode, 'node_key' | 'node_kind' | 'action_type' | 'config'>;
  /**
   * What the node's executor declares. This decides the payees of action types that are not built
   * in.
   */
  readonly executor: DeclaredPayees | undefined;
  readonly intent: Intent;
  readonly input_params: JsonObject;
  readonly prepared_action?: JsonObject | null;
  readonly output?: JsonObject | null;
  readonly sign_request?: SignRequest | null;
}

/** Returns everything the node pays, each payee once; empty if the node pays no one. */
export function destinationsOf(paying: Paying): readonly Destination[] {
  const { node } = paying;
  if (node.node_kind === 'observe' || node.node_kind === 'manual_gate') return [];
  if (isMintedAlready(paying)) return [];
  const seen = new Set<string>();
  return found(paying).filter(({ chain_family, address, chain_id, problem = '' }) => {
    const id = `${chain_family} ${String(chain_id)} ${address} ${problem}`;
    return !seen.has(id) && seen.add(id);
  });
}

/**
 * Returns whether the node was prepared as a mint of a burn that another sender has already minted.
 * Then it signs and sends nothing.
 */
export function isMintedAlready({
  node,
  prepared_action,
  sign_request,
}: Pick<Paying, 'node' | 'prepared_action' | 'sign_request'>): boolean {
  if (specOf(node.action_type).amount !== 'first_leg' || sign_request != null) return false;
  return prepared_action != null && Object.hasOwn(prepared_action, 'minted_by');
}

/**
 * Returns the address that the node pays, for display. Order: the field that built-in executors
 * read, the prepared payee, the planned payee. Null if the node pays no one, or its payee is not
 * known yet.
 */
export function shownDestination({
  node,
  executor,
  intent,
  input_params,
  prepared_action,
}: Omit<Paying, 'output' | 'sign_request'>): string | null {
  const { asset, amount } = intent;
  const prepared =
    prepared_action == null
      ? []
      : destinationsOf({
          node: { ...node, config: prepared_action },
          executor,
          intent: { asset, amount },
          input_params: {},
        });
  const known = [...prepared, ...destinationsOf({ node, executor, intent, input_params })].filter(
    ({ address }) => address !== '',
  );
  const { destination_address: read } = node.config;
  const paid =
    isBuiltIn(node.action_type) && typeof read === 'string' ? [read, unpadded(read)] : [];
  return (known.find(({ address }) => paid.includes(address)) ?? known[0])?.address ?? null;
}

function found(paying: Paying): readonly Destination[] {
  const { payees } = specOf(paying.node.action_type);
  if (payees === 'declared') return ownDestinations(paying);
  return [...ofType(paying, payees), ...declaredBeside(paying)];
}

function ofType(paying: Paying, payees: PayeeSpec): readonly Destination[] {
  if (payees === 'none' || payees === 'sub_account' || takesBack(paying.node)) return [];
  return payees === 'exchange' ? ofWithdrawal(paying) : ofChain(paying, payees);
}

/**
 * Returns the payees of an exchange withdrawal. An exchange pays the config's
 * `destination_address`. Without that field, payees in the request and in the config all count; if
 * neither names a payee, the withdrawal may pay no one.
 */
function ofWithdrawal({
  node,
  intent,
  input_params,
  prepared_action,
  output,
}: Paying): readonly Destination[] {
  const own = payeesIn(node.config, 'any');
  const plain =
    typeof node.config['destination_address'] === 'string' &&
    node.config['destination_address'] !== '';
  const payees = plain
    ? own
    : [...own, ...payeesIn(intentOf(intent), 'any'), ...payeesIn(input_params, 'any')];
  const named = payees.length > 0 ? payees : [''];
  const reported = [prepared_action, output].flatMap((each) => payeesIn(each ?? {}, 'any'));
  return [...named, ...reported].map((address) => ({
    node_key: node.node_key,
    chain_family: 'cex',
    address,
    chain_id: null,
    strict: false,
  }));
}

/**
 * Returns every address that the executor receives, on every chain that is named with it. The
 * allowlist must hold all of them.
 */
function ofChain(
  { node, intent, input_params, prepared_action, output, sign_request }: Paying,
  payees: PayeeSpec,
): readonly Destination[] {
  const arrival = typeof payees === 'object' ? payees.strict : null;
  const strict = arrival !== null;
  const own = chainsOf(node.config, arrival);
  const fromIntent = intent.chain_id === undefined ? [] : [intent.chain_id];
  const chains = own.length > 0 ? own : fromIntent;
  const on = (addresses: readonly string[], ids: readonly number[]): readonly Destination[] =>
    addresses.flatMap((address) =>
      (ids.length === 0 ? [null] : ids).map((chain_id): Destination => ({
        node_key: node.node_key,
        chain_family: 'evm',
        address: unpadded(address),
        chain_id,
        strict,
      })),
    );
  const { node_config: merged, ...others } = input_params;
  const params = isObject(merged) ? others : input_params;
  const { spender } = node.config;
  const allowed = payees === 'spender' ? [String(spender ?? '')] : [];
  const signed = sign_request == null ? null : signedChain(sign_request);
  return [
    ...on([...allowed, ...payeesIn(node.config, 'any')], chains),
    ...on(payeesIn(intentOf(intent), 'any'), [...fromIntent, ...own]),
    ...on(payeesIn(params, 'any'), chains),
    ...[prepared_action ?? {}, output ?? {}].flatMap((each) =>
      on(payeesIn(each, 'any'), [...chains, ...chainsOf(each, arrival)]),
    ),
    ...(sign_request == null
      ? []
      : on(signedPayees(sign_request), signed === null ? chains : [signed])),
  ];
}

function intentOf({ destination_address }: Intent): JsonObject {
  return destination_address === undefined ? {} : { destination_address };
}

/** Returns the chains that are named. If funds arrive on another chain, returns only that chain. */
function chainsOf(
  of: JsonObject,
  arrival: 'chain_id' | 'destination_chain_id' | null,
): readonly number[] {
  const named = arrival === null ? [of['chain_id'], of['destination_chain_id']] : [of[arrival]];
  return named.filter((id) => typeof id === 'number');
}
