/** Why a signer that a route's nodes select cannot sign now. */
import { matchSigners, type ReplacedSigner } from '../plan/bindings.ts';
import type { SignerSelector } from '../plan/types.ts';
import type { SignerDescriptor } from '../signer.ts';

/** The stored facts about a signer. */
export interface StoredSigner {
  readonly signer_key: string;
  readonly status: string;
  readonly chain_family: string;
  readonly profile: string | null;
  readonly replaced_by: string | null;
  /** Whether the signer's last observed address is not its pinned address. */
  readonly is_drifted: boolean;
}

/**
 * Returns a function that returns why the signer of a selector cannot sign; null if it can. Nodes
 * select as when a movement is created. A signer without a stored row counts as active.
 */
export function signerProblems(
  registered: readonly SignerDescriptor[],
  stored: readonly StoredSigner[],
): (selector: SignerSelector) => string | null {
  const replaced = stored.flatMap(replacedSigner);
  const known = new Set(registered.map(({ signer_key }) => signer_key));
  const rows = new Map(stored.map((row) => [row.signer_key, row]));
  // A cache: many routes use the same selectors.
  const problems = new Map<string, string | null>();
  return (selector) => {
    const name = selectorName(selector);
    const cached = problems.get(name);
    if (cached !== undefined) return cached;
    const [key, ...others] = matchSigners(selector, registered, replaced);
    const found = key === undefined ? 'no signer matches' : 'several signers match';
    const problem =
      key === undefined || others.length > 0
        ? `binding_unresolved: ${found} ${name}`
        : problemOf(key, known.has(key), rows.get(key));
    problems.set(name, problem);
    return problem;
  };
}

/** Returns why the signer cannot sign, with the code that the node would fail with; or null. */
function problemOf(
  key: string,
  isRegistered: boolean,
  row: StoredSigner | undefined,
): string | null {
  if (!isRegistered) return `SIGNER_MISSING: signer ${key} is not registered`;
  if (row !== undefined && row.status !== 'active')
    return `SIGNER_DISABLED: signer ${key} is ${row.status}`;
  if (row?.is_drifted === true)
    return `SIGNER_IDENTITY_MISMATCH: the address of signer ${key} is not its pinned address`;
  return null;
}

function replacedSigner({
  signer_key,
  chain_family,
  profile,
  replaced_by,
}: StoredSigner): readonly ReplacedSigner[] {
  if (replaced_by === null) return [];
  return [{ signer_key, chain_family, replaced_by, ...(profile === null ? {} : { profile }) }];
}

function selectorName({ chain_family, profile }: SignerSelector): string {
  return profile === undefined
    ? `chain_family=${chain_family}`
    : `chain_family=${chain_family},profile=${profile}`;
}
