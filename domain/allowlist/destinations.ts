/**
 * Which addresses a node pays, wherever they come from: its config (which holds `input_params.node_config`
 * already), the intent, the input parameters, what its executor prepared or reported, and what it asks to
 * be signed. Addresses are as written; whoever compares them brings them to their normal form first.
 */
import type { JsonObject, SignRequest } from '../executor.ts';
import { isObject } from '../plan/compile.ts';
import type { CompiledNode, Intent } from '../plan/types.ts';
import type { ChainFamily } from './address.ts';
import { payeesIn, type Taken } from './payees.ts';
import { signedChain, signedPayees } from './signed.ts';

export interface Destination {
  readonly node_key: string;
  readonly chain_family: ChainFamily;
  readonly address: string;
  readonly chain_id: number | null;
  /** The row must name the chain. */
  readonly strict: boolean;
}

/** What is known of a node at the moment; before it runs there is nothing but its plan. */
export interface Paying {
  readonly node: Pick<CompiledNode, 'node_key' | 'node_kind' | 'action_type' | 'config'>;
  readonly intent: Intent;
  readonly input_params: JsonObject;
  readonly prepared_action?: JsonObject | null;
  readonly output?: JsonObject | null;
  readonly sign_request?: SignRequest | null;
}

/** Action types that pay no address. */
const PAYS_NOBODY: readonly string[] = [
  'cex_internal_transfer',
  'cex_deposit_observe',
  'evm_balance_observe',
  'bridge_c_observe',
  'manual_gate',
  'noop',
];
const ON_CHAIN: readonly string[] = [
  'evm_native_transfer',
  'evm_erc20_transfer',
  'cctp_burn',
  'cctp_mint',
  'bridge_c_send',
  'perp_deposit',
  'perp_withdraw',
  'agent_wallet_top_up',
];
/** What they send arrives on another chain, so a row must say on which. */
const STRICT: readonly string[] = ['cctp_burn', 'bridge_c_send'];

/** Everything the node pays, each once. Empty where it pays nobody. */
export function destinationsOf(paying: Paying): readonly Destination[] {
  const { node } = paying;
  if (PAYS_NOBODY.includes(node.action_type) || node.node_kind === 'observe' || node.node_kind === 'manual_gate') return [];
  const found = node.action_type === 'cex_withdrawal' ? ofWithdrawal(paying) : ofChain(paying);
  const seen = new Set<string>();
  return found.filter(({ address, chain_id }) => {
    const id = `${String(chain_id)} ${address}`;
    return !seen.has(id) && seen.add(id);
  });
}

/**
 * An exchange pays the config's `destination_address`. Where there is none, what the request names counts beside whatever
 * else the config does; one without any destination is no reason to pay.
 */
function ofWithdrawal({ node, intent, input_params, prepared_action, output }: Paying): readonly Destination[] {
  const own = payeesIn(node.config, 'any');
  const plain = typeof node.config['destination_address'] === 'string' && node.config['destination_address'] !== '';
  const asked = plain ? own : [...own, ...payeesIn(intentOf(intent), 'any'), ...payeesIn(input_params, 'any')];
  const named = asked.length > 0 ? asked : [''];
  const reported = [prepared_action, output].flatMap((each) => payeesIn(each ?? {}, 'any'));
  return [...named, ...reported].map((address) => ({
    node_key: node.node_key,
    chain_family: 'cex',
    address,
    chain_id: null,
    strict: false,
  }));
}

/** Executors are given all of these, so all of them have to be on the list, on every chain that is named with them. */
function ofChain({ node, intent, input_params, prepared_action, output, sign_request }: Paying): readonly Destination[] {
  const strict = STRICT.includes(node.action_type);
  const taken: Taken = ON_CHAIN.includes(node.action_type) ? 'any' : 'evm_like';
  const own = chainsOf(node.config, strict);
  const asked = intent.chain_id === undefined ? [] : [intent.chain_id];
  const chains = own.length > 0 ? own : asked;
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
  const signed = sign_request == null ? null : signedChain(sign_request);
  return [
    ...on(payeesIn(node.config, taken), chains),
    ...on(payeesIn(intentOf(intent), taken), [...asked, ...own]),
    ...on(payeesIn(params, taken), chains),
    ...[prepared_action ?? {}, output ?? {}].flatMap((each) => on(payeesIn(each, taken), [...chains, ...chainsOf(each, strict)])),
    ...(sign_request == null ? [] : on(signedPayees(sign_request), signed === null ? chains : [signed])),
  ];
}

function intentOf({ destination_address }: Intent): JsonObject {
  return destination_address === undefined ? {} : { destination_address };
}

/** The chains that are named; where funds arrive elsewhere, only that of the arrival. */
function chainsOf({ chain_id, destination_chain_id }: JsonObject, strict: boolean): readonly number[] {
  const named = strict ? [destination_chain_id] : [chain_id, destination_chain_id];
  return named.filter((id) => typeof id === 'number');
}

const PADDED = /^0x0{24}([0-9a-f]{40})$/i;

/** Contracts of bridges take addresses in 32 bytes. */
function unpadded(address: string): string {
  const [, last] = PADDED.exec(address) ?? [];
  return last === undefined ? address : `0x${last}`;
}
