/**
 * The payees of an executor team's own action type: the fields that its executor declares, and
 * every other EVM address that it does not declare as no payee. The service does not know what such
 * an executor reads, so it relies on the declaration.
 */
import type { DeclaredFacts, PayeeField, SignRequest } from '../executor.ts';
import { isObject, type JsonObject, type JsonValue } from '../json.ts';
import { isBuiltIn } from '../actions/built-in.ts';
import { assetOf, type ChainAssets } from '../plan/tokens.ts';
import type { CompiledNode, Intent } from '../plan/types.ts';
import type { Destination } from './destination.ts';
import { signedChain, signedPayees } from './signed.ts';
import { unpadded } from './unpadded.ts';

/** What the executor that a node is bound to says of whom it pays. */
export type DeclaredPayees = Pick<DeclaredFacts, 'sends' | 'payees' | 'not_payees'> & {
  readonly action_types: readonly string[];
};

/** The executor's own action types whose declared fields name no payee that a plan can choose. */
export function typesWithoutPayees({
  sends,
  payees,
  action_types,
}: DeclaredPayees): readonly string[] {
  return !sends || payees?.length === 0 ? action_types.filter((type) => !isBuiltIn(type)) : [];
}

/** What is known of such a node; before it runs, only its plan. */
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
 * Everything it pays. `aside` marks addresses that no field declares; the caller drops those that
 * are the plan's own tokens and signers.
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
 * The payees that an executor declares where it serves a built-in type, in addition to those that
 * the type's own rules find. A field that no plan fills is ignored: the entry may serve other types
 * too, and the field may belong to one of those.
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
 * Where values are read. Shared config is already merged into `config`, where the template's value
 * wins.
 */
interface Sources {
  readonly config: JsonObject;
  readonly intent: JsonObject;
  readonly params: JsonObject;
  /**
   * Null until something is prepared; an executor that prepares nothing is checked by the config.
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

/** Each value of one declared field; what was prepared must name exactly the same values. */
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

/** The values of the config, else those of the request. */
function plannedAt(
  path: readonly string[],
  { config, intent, params }: Sources,
): readonly JsonValue[] {
  const own = valuesAt(config, path);
  return own.length > 0 ? own : [...valuesAt(intent, path), ...valuesAt(params, path)];
}

/** The values at a path, each element of a list by itself. Null counts as absent. */
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

/** Equal for the same address; text that is no EVM address is its own key. */
function keyOf(address: string): string {
  return /^0x/i.test(address) ? unpadded(address).toLowerCase() : address;
}

const CONVENTIONAL: readonly string[] = ['chain_id', 'destination_chain_id'];

/** Null: the chain is unknown, so only an address that is allowed on every chain will do. */
type Chain = number | null;

/**
 * The chains on which it may pay: those of the declared fields, each read where its executor reads
 * it, and of the usual ones, else the intent's.
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
 * An EVM address from the first to the last character, also in 32 bytes. Spaces around it are
 * allowed: an executor may still pay it.
 */
const WHOLE = /^\s*(0x(?:0{24})?[0-9a-f]{40})\s*$/i;

/** Every EVM address outside of declared fields, names of fields included. */
function othersIn(
  { config, intent, params, prepared }: Sources,
  { payees = [], not_payees }: DeclaredPayees,
): readonly string[] {
  const inAnyCase = not_payees.map((field) => field.split('.'));
  const declared = payees.map(({ field }) => field.split('.'));
  // Where the config holds no payee in a field, the request was read instead.
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

/** Drops the plan's own tokens and signers from the undeclared addresses. */
export function withoutKnown(
  destinations: readonly Destination[],
  known: readonly string[],
): readonly Destination[] {
  const keys = new Set(known.map(keyOf));
  return destinations.filter(({ aside, address }) => aside !== true || !keys.has(keyOf(address)));
}

/**
 * The tokens of a plan: those that the venues list, and those that its template names. A token that
 * only the caller names may be any address.
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
