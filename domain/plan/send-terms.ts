/** What a sending node's config says beside amount and payee, as whoever approves it reads it. */
import type { CompiledNode } from './types.ts';

export interface SendTerms {
  readonly venue: string | null;
  /** The network on which an exchange pays. */
  readonly network: string | null;
  /** Behind an address that many share, it chooses whom the exchange pays. */
  readonly tag: string | null;
  /** Of a burn: how much of it the attester may keep. */
  readonly max_fee: string | null;
  /** Of a burn: after which finality it is attested. */
  readonly finality: string | null;
  /** Of a burn: who alone may mint it; null: anybody. */
  readonly destination_caller: string | null;
}

/** A burn's terms have the values that it is sent with where the config is silent. */
export function sendTerms({
  action_type,
  config,
}: Pick<CompiledNode, 'action_type' | 'config'>): SendTerms {
  const of = (name: string): string | null => {
    const value = config[name];
    return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
  };
  const burns = action_type === 'cctp_burn';
  return {
    venue: of('venue'),
    network: of('network'),
    tag: of('tag'),
    max_fee: of('max_fee') ?? (burns ? '0' : null),
    finality: of('finality') ?? (burns ? 'standard' : null),
    destination_caller: of('destination_caller'),
  };
}
