/** How a local exchange refuses, before its format puts it into the exchange's own words. */

export type RefusalKind =
  | 'key_unknown'
  | 'signature'
  | 'clock'
  | 'nonce'
  | 'permission'
  | 'endpoint_unknown'
  | 'parameter_missing'
  | 'parameter_invalid'
  | 'unknown_asset'
  | 'unknown_network'
  | 'unknown_account'
  | 'master_only'
  | 'suspended'
  | 'held'
  | 'address_unknown'
  | 'address_not_listed'
  | 'tag_missing'
  | 'below_minimum'
  | 'above_maximum'
  | 'precision'
  | 'fee_above_limit'
  | 'quota'
  | 'insufficient_funds'
  | 'not_found';

/** The exchange refuses and has done nothing. `detail` is a parameter's name or a bound. */
export class Refusal extends Error {
  readonly kind: RefusalKind;
  readonly detail: string;
  constructor(kind: RefusalKind, detail = '') {
    super(`${kind} ${detail}`.trim());
    this.kind = kind;
    this.detail = detail;
  }
}
