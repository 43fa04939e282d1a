/** Commands with which a person decides about one plan node. */
import { operation } from '../../command-line/operation.ts';
import { choice, file, many, required, text, whole } from '../../command-line/options.ts';
import type { Session } from '../../command-line/session.ts';
import { jsonFile, jsonPairs } from '../../command-line/words.ts';
import { usageError } from '../../command-line/exit.ts';
import type { BodyOf } from '../../http/operations.ts';
import { MOVEMENT, REASON } from '../shared.ts';
import { actionText, standing } from './movement-actions.ts';

const NODE = { ...MOVEMENT, nodeKey: 'key of the node' };

export const resolve = operation('resolveMovementNode', {
  name: 'resolve',
  about: 'Give your word on an UNKNOWN node that no venue can answer for; it is final',
  details:
    '`completed`: its effect has landed; `failed`: it is proven that it has not; `abandoned`: neither can be known, so it ends FAILED, is never retried, and counts as sent. Evidence is what proves it: a reference, a line of a statement, a transaction.',
  examples: [
    'fundctl movements resolve <movement-id> withdraw --outcome completed --reason "on the statement" --evidence statement=2026-11 --evidence line=17',
    'fundctl movements resolve <movement-id> burn --outcome completed --mint-tx 0x… --reason "a relayer minted it" --evidence ticket=7',
  ],
  args: NODE,
  options: {
    outcome: required(choice(['completed', 'failed', 'abandoned'], 'what became of it')),
    ...REASON,
    evidence: many('key=value', 'what proves it'),
    evidenceFile: file('the evidence as a JSON object'),
    attempt: whole(
      'number',
      'the attempt that you looked into, the first unless named; another one is left alone',
    ),
    outputFile: file(
      'with completed: what its executor would have returned, as a JSON object; of a type that claims it names the claim, which is read at its source',
    ),
    mintTx: many(
      'hash',
      'with completed, of a burn or its mint: the transaction that minted it, which is read on the chain; where equal burns are open one of each',
    ),
  },
  ask: ({ args, options }) => `Say for good that ${args.nodeKey} has ${options.outcome}?`,
  what: standing,
  input: async ({ session, args, options }) => {
    const { outcome, reason, attempt, outputFile, mintTx } = options;
    const body = {
      outcome,
      reason,
      attempt,
      evidence: await evidenceOf(session, options),
      output: outputFile === undefined ? undefined : await jsonFile(session.io, outputFile),
      mint_tx_hashes: mintTx.length === 0 ? undefined : mintTx,
    };
    return { ...ofNode({ args }), body: body as BodyOf<'resolveMovementNode'> };
  },
  show: actionText,
});

export const reassign = operation('reassignNodePayment', {
  name: 'reassign',
  about: 'Give the payment that completed a node to the node that it is for',
  details:
    'The first node waits for its own payment again; the other is completed. Only while nothing behind the first has started.',
  examples: [
    'fundctl movements reassign <movement-id> arrive --to-movement <movement-id> --to-node arrive --reason "the sender named the other invoice" --evidence letter=2026-11-25',
  ],
  args: { ...NODE, nodeKey: 'key of the node that has the payment' },
  options: {
    toMovement: required(text('movement-id', 'the movement that the payment is for')),
    toNode: required(text('node-key', 'its node')),
    ...REASON,
    evidence: many('key=value', 'what proves whose payment it is'),
    evidenceFile: file('the evidence as a JSON object'),
  },
  ask: ({ args, options: { toNode, toMovement } }) =>
    `Give the payment of ${args.nodeKey} to ${toNode} of ${toMovement}?`,
  what: standing,
  input: async ({ session, args, options }) => ({
    ...ofNode({ args }),
    body: {
      to_movement_id: options.toMovement,
      to_node_key: options.toNode,
      reason: options.reason,
      evidence: await evidenceOf(session, options),
    } as BodyOf<'reassignNodePayment'>,
  }),
  show: actionText,
});

async function evidenceOf(
  session: Session,
  options: { readonly evidence: readonly string[]; readonly evidenceFile: string | undefined },
): Promise<Readonly<Record<string, unknown>>> {
  const written =
    options.evidenceFile === undefined ? {} : await jsonFile(session.io, options.evidenceFile);
  const evidence = { ...written, ...jsonPairs(options.evidence, '--evidence') };
  if (Object.keys(evidence).length === 0)
    throw usageError('--evidence is missing: say what proves it.');
  return evidence;
}

export const cancelTransaction = operation('cancelNodeTransaction', {
  name: 'cancel-transaction',
  about: 'Replace a transaction that is not mined by one that moves nothing',
  details: 'Both have the same nonce; whichever is mined decides.',
  args: NODE,
  options: REASON,
  ask: ({ args }) => `Cancel the transaction of ${args.nodeKey}?`,
  what: standing,
  input: ({ args, options }) => ({ ...ofNode({ args }), body: options }),
  show: actionText,
});

function ofNode({ args }: { readonly args: { readonly [K in keyof typeof NODE]: string } }) {
  return { params: { movement_id: args.movementId, node_key: args.nodeKey } };
}
