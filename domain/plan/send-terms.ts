/**
 * The terms of a sending node besides amount and payee, as shown to its approver. Each field has
 * the value that the executor uses, also when the config does not set it.
 */
import { specOf } from '../actions/built-in.ts';
import type { DefaultField } from '../actions/spec.ts';
import { accountTypeOf } from './pools.ts';
import type { CompiledNode } from './types.ts';

export interface SendTerms {
  readonly venue: string | null;
  /** The kind of account at the venue that the funds leave. */
  readonly account_type: string | null;
  /** The venue of the account that an internal transfer pays. */
  readonly destination_venue: string | null;
  /** The kind of account at `destination_venue` that is paid. */
  readonly destination_account_type: string | null;
  /** The sub-account at the perps venue that a top-up pays. */
  readonly sub_account_address: string | null;
  /**
   * The chain that the funds leave; for a venue, the chain on which it pays. Null for an exchange,
   * which pays on its `network`.
   */
  readonly chain_id: string | null;
  /** The chain on which a bridge pays. */
  readonly destination_chain_id: string | null;
  readonly token_address: string | null;
  /** The node output that decides the amount; null when plan or intent set the amount. */
  readonly amount_ref: string | null;
  /** For a mint: the node whose burnt funds the mint brings to its payee. */
  readonly burn_from: string | null;
  /** The network on which an exchange pays. */
  readonly network: string | null;
  /** At an address that many payees share, the tag selects the payee. */
  readonly tag: string | null;
  /**
   * For a burn: how much of it the attester may keep. For a withdrawal: the most that the fee of
   * the exchange may be.
   */
  readonly max_fee: string | null;
  /** For a burn: the finality after which it is attested. */
  readonly finality: string | null;
  /** For a burn: the only account that may mint it; null: any account. */
  readonly destination_caller: string | null;
}

export function sendTerms({
  action_type,
  config,
}: Pick<CompiledNode, 'action_type' | 'config'>): SendTerms {
  const of = (name: string): string | null => {
    const value = config[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
  };
  const { defaults, pool } = specOf(action_type);
  const said = (name: DefaultField): string | null => of(name) ?? defaults[name] ?? null;
  const ref = config['amount'] === undefined ? of('amount_ref') : null;
  return {
    venue: of('venue'),
    account_type: accountTypeOf({ action_type, config }),
    destination_venue: of('destination_venue'),
    destination_account_type:
      defaults.destination_account_type === undefined
        ? of('destination_account_type')
        : (said('destination_account_type')?.toUpperCase() ?? null),
    sub_account_address: of('sub_account_address'),
    chain_id: sourceChain(action_type, of),
    destination_chain_id: of('destination_chain_id'),
    token_address: of('token_address'),
    amount_ref: ref === 'intent' ? null : ref,
    burn_from: of('burn_from'),
    network: of('network'),
    tag: of('tag'),
    // Each of the two is read by its own executors alone.
    max_fee: pool === 'exchange' ? of('fee_limit') : said('max_fee'),
    finality: said('finality'),
    destination_caller: of('destination_caller'),
  };
}

/**
 * Returns the chain that the funds leave. A built-in type reads only one of the two fields, a
 * withdrawal from an exchange neither; the config may contain the other one for other nodes.
 */
function sourceChain(action_type: string, of: (name: string) => string | null): string | null {
  const { pool } = specOf(action_type);
  if (pool === 'exchange') return null;
  if (pool === 'own') return of('source_chain_id') ?? of('chain_id');
  return of(pool === 'source_chain_id' ? pool : 'chain_id');
}
