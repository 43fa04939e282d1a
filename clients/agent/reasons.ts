/** Explains why a proposal is not promoted automatically, and what would satisfy the rule. */
import type { Proposed, Authority } from './authority.ts';
import { nameOr } from './plain.ts';

export interface Blocked {
  /** Name of the rule, as the service reports it. */
  readonly rule: string;
  readonly why: string;
  readonly satisfy: string;
}

interface Known {
  readonly proposed: Proposed;
  readonly authority: Authority | null;
}
type Words = (known: Known) => { readonly why: string; readonly satisfy: string };

const PROMOTE = 'ask an admin to promote this proposal';

const WORDS: Readonly<Record<string, Words>> = {
  asset_not_allowed: ({ proposed, authority }) => ({
    why: `${wanted(proposed.asset, 'an asset')}; ${allows(authority?.allowed_assets, 'assets')}`,
    satisfy: `propose ${anyOf(authority?.allowed_assets)}, or ${PROMOTE}`,
  }),
  chain_not_allowed: ({ proposed, authority }) => ({
    why: `${wanted(way(proposed), 'a chain')}; ${allows(authority?.allowed_chains, 'chains')}`,
    satisfy: `propose a way between ${anyOf(authority?.allowed_chains)}, or ${PROMOTE}`,
  }),
  notional_exceeded: ({ proposed, authority }) => {
    const most = authority?.max_notional;
    return {
      why: `${wanted(proposed.requested_notional, 'an amount')}, ${most == null ? 'the authority allows none' : `authority allows ${most}`}`,
      satisfy: most == null ? PROMOTE : `${PROMOTE}, or propose at most ${most}`,
    };
  },
  ttl_exceeded: ({ proposed, authority }) => {
    const most = authority?.max_ttl_seconds;
    const limit = most == null ? 'less' : `at most ${String(most)} seconds`;
    return {
      why: `${wanted(proposed.ttl_seconds, 'a time')} seconds, authority allows ${limit}`,
      satisfy: `propose ttl_seconds of ${limit}, or ${PROMOTE}`,
    };
  },
  address_not_allowlisted: ({ proposed }) => ({
    why: `${nameOr(proposed.destination_address, 'the destination')} is not on the allowlist for its chain`,
    satisfy:
      'ask an admin to add it to the allowlist, then propose again; a promotion cannot waive this rule',
  }),
  address_in_cooling_period: ({ proposed }) => ({
    why: `${nameOr(proposed.destination_address, 'the destination')} was added to the allowlist too recently`,
    satisfy: 'propose again when its cooling period is over; a promotion cannot waive this rule',
  }),
  signer_profile_unresolved: ({ proposed }) => ({
    why: `no active signer has the profile ${nameOr(proposed.signer_profile, 'that was proposed')}`,
    satisfy: 'ask an operator which signer_profile pays on the source chain, and propose that one',
  }),
  bridge_path_not_ready: ({ proposed }) => ({
    why: `the bridge's path for ${way(proposed) ?? 'this way'} is not ready to send`,
    satisfy: 'ask an admin to make the path ready, or propose another protocol_family',
  }),
  no_blueprint: ({ proposed }) => ({
    why: `there is no plan for ${proposed.protocol_family ?? 'this protocol_family'} on this way`,
    satisfy: 'propose another protocol_family or way; list_routes shows the possible routes',
  }),
};

/** Returns each reason in words; a rule that this version does not know gets a general text. */
export function explained(reasons: readonly string[], known: Known): readonly Blocked[] {
  return reasons.map((rule) => {
    const words = Object.hasOwn(WORDS, rule) ? WORDS[rule] : undefined;
    return words === undefined
      ? { rule, why: 'the service gave this reason', satisfy: 'ask an admin' }
      : { rule, ...words(known) };
  });
}

function wanted(value: string | number | undefined, none: string): string {
  return `proposed ${value === undefined ? `${none} that is not covered` : String(value)}`;
}

function way({ source_chain, destination_chain }: Proposed): string | undefined {
  if (source_chain === undefined || destination_chain === undefined) return undefined;
  return `${source_chain} to ${destination_chain}`;
}

function allows(list: readonly string[] | undefined, what: string): string {
  if (list === undefined) return `the authority's ${what} could not be read`;
  return list.length === 0 ? `authority allows no ${what}` : `authority allows ${some(list)}`;
}

function anyOf(list: readonly string[] | undefined): string {
  return list === undefined || list.length === 0 ? 'what the authority allows' : some(list);
}

const SHOWN = 12;

function some(list: readonly string[]): string {
  const rest = list.length - SHOWN;
  const shown = list.slice(0, SHOWN).join(', ');
  return rest > 0 ? `${shown} and ${String(rest)} more` : shown;
}
