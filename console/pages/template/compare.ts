/** Compares two versions of a template: what the newer one adds, removes and changes. Pure. */
import type { ResultOf } from '../../../clients/http/operations.ts';
import { stableJson } from '../../parts/stable-json.ts';

type Template = Pick<
  ResultOf<'getPlanTemplate'>,
  | ('name' | 'owner' | 'approval_policy' | 'risk_controls' | 'completion_policy')
  | ('nodes' | 'edges')
>;

export interface Difference {
  /** The changed part: `node pay`, `edge pay → stop (on cancel)`, `risk_controls`. */
  readonly of: string;
  readonly field: string | null;
  /** Null when the value was added. */
  readonly before: string | null;
  /** Null when the value was removed. */
  readonly after: string | null;
}

/**
 * Returns the differences from `before` to `after`. Ids of nodes and edges differ in every version,
 * so they are ignored.
 */
export function differencesOf(before: Template, after: Template): readonly Difference[] {
  const terms = ['name', 'owner', 'completion_policy', 'risk_controls', 'approval_policy'] as const;
  return [
    ...terms.flatMap((term) => fieldsOf(term, { [term]: before[term] }, { [term]: after[term] })),
    ...partsOf(byKey(before.nodes, nodeName), byKey(after.nodes, nodeName)),
    ...partsOf(byKey(before.edges, edgeName), byKey(after.edges, edgeName)),
  ];
}

type Part = Readonly<Record<string, unknown>>;

function nodeName({ node_key }: Template['nodes'][number]): string {
  return `node ${node_key}`;
}

function edgeName({ from, to, edge_type }: Template['edges'][number]): string {
  return `edge ${from} → ${to} (${edge_type.replaceAll('_', ' ')})`;
}

/**
 * Returns the parts by name. Several edges of one type may join the same nodes, so repeated names
 * are numbered.
 */
function byKey<Each extends { readonly id: string }>(
  all: readonly Each[],
  nameOf: (each: Each) => string,
): ReadonlyMap<string, Part> {
  const named = new Map<string, Part>();
  for (const each of all) {
    const { id: _id, ...rest } = each;
    const name = nameOf(each);
    let key = name;
    for (let nth = 2; named.has(key); nth += 1) key = `${name}, number ${String(nth)}`;
    named.set(key, rest);
  }
  return named;
}

function partsOf(before: ReadonlyMap<string, Part>, after: ReadonlyMap<string, Part>) {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((of): readonly Difference[] => {
    const [was, is] = [before.get(of), after.get(of)];
    if (was === undefined || is === undefined)
      return [{ of, field: null, before: textOrNull(was), after: textOrNull(is) }];
    return fieldsOf(of, was, is);
  });
}

function fieldsOf(of: string, was: Part, is: Part): readonly Difference[] {
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .map((field) => ({ of, field, before: textOrNull(was[field]), after: textOrNull(is[field]) }))
    .filter(({ before, after }) => before !== after);
}

/**
 * Returns JSON with sorted keys, so that key order does not matter; null for an absent value or
 * null.
 */
function textOrNull(value: unknown): string | null {
  return value === null ? null : (stableJson(value) ?? null);
}
