/**
 * Finds the payees of an executor team's own action type: the fields that its executor declares,
 * and every other EVM address except those that the executor declares as not payees. The service
 * does not know which fields such an executor reads, so it relies on the declaration.
 */
import type { DeclaredFacts, PayeeField, SignRequest } from '../executor.ts';
import { isObject, type JsonObject, type JsonValue } from '../json.ts';
import { isBuiltIn } from '../actions/built-in.ts';
import { assetOf, type ChainAssets } from '../plan/tokens.ts';
import type { CompiledNode, Intent } from '../plan/types.ts';
import type { Destination } from './destination.ts';
import { signedChain, signedPayees } from './signed.ts';
import { unpadded } from './unpadded.ts';

/** What the executor of a node declares about payees. */
export type DeclaredPayees = Pick<DeclaredFacts, 'sends' | 'payees' | 'not_payees'> & {
  readonly action_types: readonly string[];
};

/** Returns the executor's own action types for which a plan cannot choose a payee. */
export function typesWithoutPayees({
  sends,
  payees,
  action_types,
}: DeclaredPayees): readonly string[] {
  return !sends || payees?.length === 0 ? action_types.filter((type) => !isBuiltIn(type)) : [];
}

/**
 * What is known about a node of a team's own type. Before the node runs, only its plan is known.
 */
export interface OwnPaying {
  readonly node: Pick<CompiledNode, 'node_key' | 'action_type' | 'config'>;
  readonly executor: DeclaredPayees | undefined;
  readonly intent: Intent;
  readonly input_params: JsonObject;
  readonly prepared_action?: JsonObject | null;
  readonly sign_request?: SignRequest | null;
}

type Place = Omit<Destination, 'address' | 'chain_family' | 'chain_id'>;

/**
 * Returns every destination that the node may pay. `aside` marks addresses in undeclared fields;
 * the caller drops those that are the plan's own tokens and signers.
 */
export function ownDestinations(paying: OwnPaying): readonly Destination[] {
  const { node, executor } = paying;
  if (executor?.sends === false && executor.action_types.includes(node.action_type)) return [];
  const place: Place = { node_key: node.node_key, strict: false };
  if (executor?.payees === undefined || !executor.action_types.includes(node.action_type)) {
    const problem = `its executor does not declare whom ${node.action_type} pays`;
    return [{ ...place, chain_family: 'evm', address: '', chain_id: null, problem }];
  }
  const sources = sourcesOf(paying);
  const chains = chainsOf(sources, executor.payees);
  const declared = executor.payees.flatMap((payee) => ofField(payee, sources, chains, place));
  const named = new Set(declared.map(({ address }) => keyOf(address)));
  const others = othersIn(sources, executor).filter((address) => !named.has(keyOf(address)));
  return [
    ...declared,
    ...onChains(others, chains, { ...place, aside: true }),
    ...(paying.sign_request == null ? [] : ofSignature(paying.sign_request, chains, place)),
  ];
}

/**
 * Returns the payees that an executor declares for a built-in type, in addition to the payees that
 * the type's own rules find. A declared field without a value is ignored: it may belong to another
 * type of the same executor.
 */
export function declaredBeside(paying: OwnPaying): readonly Destination[] {
  const { node, executor } = paying;
  if (
    executor?.payees === undefined ||
    !executor.sends ||
    !executor.action_types.includes(node.action_type)
  )
    return [];
  const sources = sourcesOf(paying);
  const chains = chainsOf(sources, executor.payees);
  const filled = ({ field }: PayeeField): boolean => {
    const path = field.split('.');
    return plannedAt(path, sources).length + valuesAt(sources.prepared ?? {}, path).length > 0;
  };
  return executor.payees
    .filter(filled)
    .flatMap((payee) =>
      ofField(payee, sources, chains, { node_key: node.node_key, strict: false }),
    );
}

/**
 * Where values are read. `config` already contains the shared config; the template's value wins.
 */
interface Sources {
  readonly config: JsonObject;
  readonly intent: JsonObject;
  readonly params: JsonObject;
  /**
   * Null until the executor has prepared its action. If an executor prepares nothing, only the
   * config is checked.
   */
  readonly prepared: JsonObject | null;
}

function sourcesOf({ node, intent, input_params, prepared_action }: OwnPaying): Sources {
  const { node_config: merged, ...others } = input_params;
  const prepared =
    prepared_action == null || Object.keys(prepared_action).length === 0 ? null : prepared_action;
  return {
    config: node.config,
    intent: { ...intent },
    params: isObject(merged) ? others : input_params,
    prepared,
  };
}

/**
 * Returns each value of one declared field. The prepared action must hold exactly the same values.
 */
function ofField(
  { field, family }: PayeeField,
  sources: Sources,
  chains: readonly Chain[],
  place: Place,
): readonly Destination[] {
  const path = field.split('.');
  const refused = (problem: string): readonly Destination[] => [
    { ...place, chain_family: family, address: '', chain_id: null, problem },
  ];
  const planned = plannedAt(path, sources);
  if (planned.length === 0) return refused(`${field} names no payee`);
  if (!planned.every(isText)) return refused(`${field} is not text`);
  if (sources.prepared !== null) {
    const prepared = valuesAt(sources.prepared, path);
    if (!prepared.every(isText) || !sameNames(planned, prepared)) {
      return refused(`what was prepared does not name exactly the same in ${field} as the plan`);
    }
  }
  if (family === 'evm') return onChains(planned, chains, place);
  return planned.map((address) => ({ ...place, chain_family: family, address, chain_id: null }));
}

/** Returns the values in the config; if there are none, the values in the request. */
function plannedAt(
  path: readonly string[],
  { config, intent, params }: Sources,
): readonly JsonValue[] {
  const own = valuesAt(config, path);
  return own.length > 0 ? own : [...valuesAt(intent, path), ...valuesAt(params, path)];
}

/** Returns the values at a path, each list element separately. Null counts as absent. */
function valuesAt(value: JsonValue, path: readonly string[]): readonly JsonValue[] {
  if (value === null) return [];
  if (Array.isArray(value))
    return (value as readonly JsonValue[]).flatMap((each) => valuesAt(each, path));
  const [name, ...rest] = path;
  if (name === undefined) return [value];
  const inner = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return inner === undefined ? [] : valuesAt(inner, rest);
}

function isText(value: JsonValue): value is string {
  return typeof value === 'string' && value !== '';
}

function sameNames(planned: readonly string[], prepared: readonly string[]): boolean {
  const [a, b] = [new Set(planned.map(keyOf)), new Set(prepared.map(keyOf))];
  return a.size === b.size && [...a].every((key) => b.has(key));
}

/** Returns the same key for two spellings of one EVM address. Other text is its own key. */
function keyOf(address: string): string {
  return /^0x/i.test(address) ? unpadded(address).toLowerCase() : address;
}

const CONVENTIONAL: readonly string[] = ['chain_id', 'destination_chain_id'];

/** Null: the chain is unknown, so only an address that is allowed on every chain matches. */
type Chain = number | null;

/**
 * Returns the chains on which the node may pay: from the declared chain fields, each read where its
 * executor reads it, and from the usual chain fields. If no such field has a value, from the
 * intent.
 */
function chainsOf(
  { config, intent, params, prepared }: Sources,
  payees: readonly PayeeField[],
): readonly Chain[] {
  const declared = payees.flatMap(({ chain_id_field }) =>
    chain_id_field === undefined ? [] : [chain_id_field.split('.')],
  );
  const usual = CONVENTIONAL.map((field) => field.split('.'));
  const declaredIn = (source: JsonObject, paths = declared): readonly Chain[] =>
    paths.flatMap((path) => valuesAt(source, path).map((value) => chainOf(value) ?? null));
  const within = (source: JsonObject): readonly Chain[] => [
    ...declaredIn(source),
    ...usual.flatMap((path) => valuesAt(source, path).flatMap((value) => chainOf(value) ?? [])),
  ];
  const elsewhere = declared.filter((path) => valuesAt(config, path).length === 0);
  const planned = [
    ...within(config),
    ...declaredIn(intent, elsewhere),
    ...declaredIn(params, elsewhere),
  ];
  const candidates = planned.length > 0 ? planned : [...within(intent), ...within(params)];
  return [...new Set([...candidates, ...within(prepared ?? {})])];
}

function chainOf(value: JsonValue): number | undefined {
  const number = typeof value === 'string' && /^[0-9]{1,16}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}

function onChains(
  addresses: readonly string[],
  chains: readonly Chain[],
  place: Place,
): readonly Destination[] {
  return addresses.flatMap((address) =>
    (chains.length === 0 ? [null] : chains).map((chain_id): Destination => ({
      ...place,
      chain_family: 'evm',
      address: unpadded(address),
      chain_id,
    })),
  );
}

function ofSignature(
  request: SignRequest,
  chains: readonly Chain[],
  place: Place,
): readonly Destination[] {
  const chain = signedChain(request);
  return onChains(signedPayees(request), chain === null ? chains : [chain], place);
}

/**
 * Matches text that is one EVM address, also padded to 32 bytes. Spaces around the address are
 * allowed, since an executor may still pay it.
 */
const WHOLE = /^\s*(0x(?:0{24})?[0-9a-f]{40})\s*$/i;

/**
 * Returns every EVM address outside of declared fields. Field names that are addresses count too.
 */
function othersIn(
  { config, intent, params, prepared }: Sources,
  { payees = [], not_payees }: DeclaredPayees,
): readonly string[] {
  const inAnyCase = not_payees.map((field) => field.split('.'));
  const declared = payees.map(({ field }) => field.split('.'));
  // If the config has no payee in a declared field, the field was already read from the request.
  const readThere = declared.filter((path) => valuesAt(config, path).length === 0);
  const destination = intent['destination_address'];
  return [
    ...addressesIn(config, [...inAnyCase, ...declared]),
    ...addressesIn(destination === undefined ? {} : { destination_address: destination }, [
      ...inAnyCase,
      ...readThere,
    ]),
    ...addressesIn(params, [...inAnyCase, ...readThere]),
    ...addressesIn(prepared ?? {}, [...inAnyCase, ...declared]),
  ];
}

function addressesIn(value: JsonValue, except: readonly (readonly string[])[]): readonly string[] {
  if (except.some((path) => path.length === 0)) return [];
  if (Array.isArray(value))
    return (value as readonly JsonValue[]).flatMap((each) => addressesIn(each, except));
  if (isObject(value)) {
    return Object.entries(value).flatMap(([name, inner]) => [
      ...wholeAddress(name),
      ...addressesIn(
        inner,
        except.flatMap(([first, ...rest]) => (first === name ? [rest] : [])),
      ),
    ]);
  }
  return typeof value === 'string' ? wholeAddress(value) : [];
}

function wholeAddress(text: string): readonly string[] {
  const [, address] = WHOLE.exec(text) ?? [];
  return address === undefined ? [] : [address];
}

/** Removes the plan's own tokens and signers from the undeclared addresses. */
export function withoutKnown(
  destinations: readonly Destination[],
  known: readonly string[],
): readonly Destination[] {
  const keys = new Set(known.map(keyOf));
  return destinations.filter(({ aside, address }) => aside !== true || !keys.has(keyOf(address)));
}

/**
 * Returns the tokens of a plan: those that the venues file lists, and those that the template
 * names. A token that only the caller names is left out, since it may be any address.
 */
export function tokensOf(
  nodes: readonly Pick<CompiledNode, 'config'>[],
  inputParams: JsonObject,
  chains: ChainAssets,
): readonly string[] {
  const shared = inputParams['node_config'];
  const sharedToken = isObject(shared) ? shared['token_address'] : undefined;
  return nodes.flatMap(({ config: { token_address: token } }) =>
    typeof token === 'string' && (token !== sharedToken || isListed(token, chains)) ? [token] : [],
  );
}

function isListed(token: string, chains: ChainAssets): boolean {
  return chains.some(({ chain_id }) => assetOf(chains, chain_id, token) !== null);
}
