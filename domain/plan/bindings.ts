/** Binds each node of a plan to an executor and a signer. */
import { specOf } from '../actions/built-in.ts';
import type { ExecutorDescriptor } from '../executor.ts';
import type { SignerDescriptor } from '../signer.ts';
import { frozen, kept } from './kept.ts';
import type {
  ExecutorBinding,
  ExecutorSelector,
  SignerBinding,
  SignerSelector,
  TemplateNode,
} from './types.ts';

export interface UnresolvedBinding {
  readonly node_key: string;
  readonly binding: 'executor' | 'signer';
  readonly reason: 'missing' | 'ambiguous';
  readonly candidates: readonly string[];
}

export interface NodeBindings {
  readonly executor_binding: ExecutorBinding;
  readonly signer_binding: SignerBinding | null;
  /** Whether the executor's own action types move funds; absent: true. */
  readonly executor_sends?: boolean;
}

/** The bindings of every node that could be bound, and all bindings that could not be resolved. */
export interface ResolvedBindings {
  readonly bindings: ReadonlyMap<string, NodeBindings>;
  readonly unresolved: readonly UnresolvedBinding[];
}

/**
 * Returns the executors that have the selector's action type and equal every other field of the
 * selector.
 */
export function matchExecutors(
  selector: ExecutorSelector,
  executors: readonly ExecutorDescriptor[],
): readonly string[] {
  return executors
    .filter((executor) => executor.action_types.includes(selector.action_type))
    .filter(
      (executor) => selector.provider === undefined || executor.provider === selector.provider,
    )
    .filter(
      (executor) =>
        selector.chain_family === undefined || executor.chain_family === selector.chain_family,
    )
    .map((executor) => executor.executor_key);
}

/** A signer that a rotation replaced, whether or not this process still holds it. */
export interface ReplacedSigner {
  readonly signer_key: string;
  readonly chain_family: string;
  readonly profile?: string;
  readonly replaced_by: string;
}

/**
 * Returns the signers of the selector's chain family, and of its profile if it names one. A
 * replaced signer counts as the signer that replaced it, so that the two are never two matches.
 * `signer_key`: the one signer that may match, whatever profiles others have.
 */
export function matchSigners(
  selector: SignerSelector,
  signers: readonly SignerDescriptor[],
  replaced: readonly ReplacedSigner[] = [],
  signer_key?: string,
): readonly string[] {
  const keys = [...signers, ...replaced]
    .filter((signer) => signer_key === undefined || signer.signer_key === signer_key)
    .filter((signer) => signer.chain_family === selector.chain_family)
    .filter((signer) => selector.profile === undefined || signer.profile === selector.profile)
    .map((signer) => successorOf(signer.signer_key, replaced));
  return [...new Set(keys)];
}

function successorOf(key: string, replaced: readonly ReplacedSigner[]): string {
  const next = replaced.find(({ signer_key }) => signer_key === key)?.replaced_by;
  return next === undefined ? key : successorOf(next, replaced);
}

/**
 * Binds every node, or reports all that cannot be bound. A node without an executor selector uses
 * its own action type. A selector that matches no executor or signer, or several, binds none. The
 * last result for the nodes is kept, so neither they nor the executors and signers may be changed.
 */
export function resolveBindings(
  nodes: readonly TemplateNode[],
  { executors, signers, replaced = [], signer }: Registry,
): ResolvedBindings {
  // The replaced signers are read anew for each create: what they are decides, not the array.
  return keptBindings(nodes, executors, signers, JSON.stringify(replaced), signer);
}

interface Registry {
  readonly executors: readonly ExecutorDescriptor[];
  readonly signers: readonly SignerDescriptor[];
  readonly replaced?: readonly ReplacedSigner[];
  /** The only signer that may be bound, or what replaced it. */
  readonly signer?: string | undefined;
}

const keptBindings = kept(
  (
    nodes: readonly TemplateNode[],
    executors: readonly ExecutorDescriptor[],
    signers: readonly SignerDescriptor[],
    replaced: string,
    signer: string | undefined,
  ) =>
    bindingsOf(nodes, {
      executors,
      signers,
      replaced: JSON.parse(replaced) as readonly ReplacedSigner[],
      signer,
    }),
);

function bindingsOf(nodes: readonly TemplateNode[], registry: Registry): ResolvedBindings {
  const bindings = new Map<string, NodeBindings>();
  const unresolved: UnresolvedBinding[] = [];
  for (const node of nodes) {
    const executors = matchExecutors(
      node.executor_selector ?? { action_type: node.action_type },
      registry.executors,
    );
    const executor = only(executors);
    const executor_sends =
      registry.executors.find((each) => each.executor_key === executor)?.sends ?? true;
    if (executor === null) unresolved.push(fault(node, 'executor', executors));
    let signer_binding: SignerBinding | null = null;
    if (node.signer_selector !== undefined || specOf(node.action_type).signs !== null) {
      const signers =
        node.signer_selector === undefined
          ? []
          : matchSigners(
              node.signer_selector,
              registry.signers,
              registry.replaced,
              registry.signer,
            );
      const signer = only(signers);
      if (signer === null) unresolved.push(fault(node, 'signer', signers));
      else signer_binding = { signer_key: signer };
    }
    if (executor !== null)
      bindings.set(
        node.node_key,
        frozen({
          executor_binding: { executor_key: executor },
          signer_binding,
          executor_sends,
        }),
      );
  }
  return frozen({ bindings, unresolved });
}

function only(candidates: readonly string[]): string | null {
  return candidates.length === 1 ? (candidates[0] ?? null) : null;
}

function fault(
  node: TemplateNode,
  binding: 'executor' | 'signer',
  candidates: readonly string[],
): UnresolvedBinding {
  return {
    node_key: node.node_key,
    binding,
    reason: candidates.length === 0 ? 'missing' : 'ambiguous',
    candidates,
  };
}
