/** Records what an expression reads, so that an evaluation copies only that. */
import type { Span } from './syntax.ts';

/** Which parts of a value are read: if `whole`, everything; otherwise the named fields. */
export interface Fields {
  whole: boolean;
  readonly named: Map<string, Fields>;
}

export interface Uses {
  /** Size of all quantifier predicates together; 0 if the expression has no quantifier. */
  predicateNodes: number;
  readonly inputParams: Fields;
  /**
   * Node key to the parts of the node's output that are read. State and error code are always
   * copied.
   */
  readonly nodes: Map<string, Fields>;
  /** Where the text names nodes, in the order in which the syntax tree is visited. */
  readonly nodeSpans: (Span & { readonly key: string })[];
}

export function newUses(): Uses {
  return { predicateNodes: 0, inputParams: noFields(), nodes: new Map(), nodeSpans: [] };
}

/** Records that an expression reads a path, which begins at the variable `root`. */
export function noteUse(
  uses: Uses,
  root: string,
  path: readonly string[],
  nodeSpan: Span | null,
): void {
  if (root === 'input_params') noteFields(uses.inputParams, path);
  const [key, field, ...rest] = path;
  if (root !== 'nodes' || key === undefined || nodeSpan === null) return;
  const output = uses.nodes.get(key) ?? noFields();
  uses.nodes.set(key, output);
  if (field === 'output') noteFields(output, rest);
  uses.nodeSpans.push({ ...nodeSpan, key });
}

function noFields(): Fields {
  return { whole: false, named: new Map() };
}

function noteFields(fields: Fields, path: readonly string[]): void {
  let at = fields;
  for (const name of path) {
    const next = at.named.get(name) ?? noFields();
    at.named.set(name, next);
    at = next;
  }
  at.whole = true;
}
