/** `propose_template`, the only tool that writes, and `get_proposal`. */
import { z } from 'zod';
import {
  authority as authorityAnswer,
  proposedFields,
  type Authority,
} from '../../agent/authority.ts';
import { plain } from '../../agent/plain.ts';
import { explained } from '../../agent/reasons.ts';
import { amountIn, assetIn, maybeWord, quote, untrusted, uuidIn, word } from '../fields.ts';
import { read } from '../read.ts';
import { defineTool, READ_ONLY, type Outcome, type ToolContext } from '../tool.ts';

const RULES = 12;
const SENTENCE = 400;
const sentence = z.string().max(SENTENCE);

const PROPOSAL = {
  proposal_id: word,
  authority_key: word,
  status: word.describe(
    'submitted: it waits for an admin; auto_promoted: its template exists; rejected and expired are ends.',
  ),
  promotion_mode: maybeWord,
  template_key: maybeWord.describe('What it became.'),
  template_version: z.int().nullable(),
  expires_at: word,
  created_at: word,
};
const proposalAnswer = z.object({
  ...PROPOSAL,
  reasons: z.array(word),
  // Present only in the answer for one proposal, read by its id.
  proposal: z.record(z.string(), z.unknown()).optional(),
  problem: quote.optional(),
  movement_id: maybeWord.optional(),
});
type ProposalAnswer = z.infer<typeof proposalAnswer>;

const proposalView = z.strictObject({
  ...PROPOSAL,
  movement_id: maybeWord.describe('Only of a bridge attempt.'),
  blocked_by: z
    .array(z.strictObject({ rule: word, why: sentence, satisfy: sentence }))
    .max(RULES)
    .describe('Each rule that says no, and what would satisfy it.'),
  next_step: sentence,
  untrusted: untrusted({ problem: quote }),
});
type View = z.input<typeof proposalView>;

const chainIn = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$/, 'must be 1 to 48 of A-Z a-z 0-9 . _ -');

export const proposeTemplate = defineTool({
  name: 'propose_template',
  title: 'Propose a way for funds',
  description:
    "Proposes a template in this agent's namespace. Within the authority's limits the service makes the template at once; beyond them the proposal waits for an admin, and the answer names each rule in the way. Nothing moves by this: a movement needs an operator's approval besides. Give an idempotency_key when you may have to repeat the call: the same key and request is one proposal.",
  effects: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: false,
  },
  power: 'narrows',
  input: z.strictObject({
    asset: assetIn,
    protocol_family: z
      .string()
      .min(1)
      .max(64)
      .describe('How funds go, such as onchain_transfer, cctp, bridge_c or cex_withdrawal.'),
    proposal_kind: z
      .enum(['static', 'ephemeral'])
      .default('static')
      .describe(
        'static: one version for all amounts that the authority allows; ephemeral: for this amount.',
      ),
    source_chain: chainIn.describe('A venue key or the decimal id of a chain.'),
    destination_chain: chainIn.describe('A venue key or the decimal id of a chain.'),
    destination_chain_id: z.int().min(1).max(2_147_483_647),
    destination_address: z.string().min(1).max(256).describe('It must be on the allowlist.'),
    signer_profile: z.string().min(1).max(128).describe('The profile of the signer that pays.'),
    requested_notional: amountIn,
    ttl_seconds: z.int().min(1).max(31_536_000).describe('How long the proposal may wait.'),
    idempotency_key: z
      .string()
      .regex(/^[!-~]{1,128}$/, 'must be 1 to 128 printable characters without spaces')
      .optional(),
  }),
  output: proposalView,
  run: async ({ idempotency_key, ...body }, context) => {
    const { api, authorityKey, signal } = context;
    const params = { authority_key: authorityKey };
    const answer = await api.call('createTemplateProposal', {
      params,
      body,
      idempotencyKey: idempotency_key,
      signal,
    });
    const made = read(proposalAnswer, answer);
    // The create's answer lacks `problem` (why there is no plan), so the proposal is read again.
    const rejected = made.status === 'rejected';
    const whole = rejected ? await orNull(() => proposalById(made, context), signal) : null;
    return outcome({ ...(whole ?? made), proposal: body }, context);
  },
});

async function proposalById(
  { proposal_id }: Pick<ProposalAnswer, 'proposal_id'>,
  { api, signal }: ToolContext,
): Promise<ProposalAnswer> {
  const params = { proposal_id };
  return read(proposalAnswer, await api.call('getTemplateProposal', { params, signal }));
}

export const getProposal = defineTool({
  name: 'get_proposal',
  title: 'Read one proposal',
  description:
    "One proposal of this agent's namespace: its status, the template that it became, or the rules in its way.",
  effects: READ_ONLY,
  power: 'reads',
  input: z.strictObject({ proposal_id: uuidIn }),
  output: proposalView,
  run: async ({ proposal_id }, context) => {
    const { data, text } = await outcome(await proposalById({ proposal_id }, context), context);
    return { data, text };
  },
});

async function outcome(
  { reasons: all, proposal = {}, problem = null, movement_id = null, ...found }: ProposalAnswer,
  context: ToolContext,
): Promise<Outcome<View>> {
  // For a promoted proposal, the reasons are the rules that an admin waived; they block nothing.
  const reasons = found.status === 'auto_promoted' ? [] : all.slice(0, RULES);
  const rules = explained(reasons, {
    proposed: proposedFields.safeParse(proposal).data ?? {},
    authority: reasons.length === 0 ? null : await limits(context),
  });
  const blocked_by = rules.map(({ rule, why, satisfy }) => ({
    rule,
    why: plain(why, SENTENCE),
    satisfy: plain(satisfy, SENTENCE),
  }));
  const next_step = nextStep(found);
  const lines = blocked_by.map(({ rule, why, satisfy }) => `${rule}: ${why}; ${satisfy}.`);
  return {
    data: { ...found, movement_id, blocked_by, next_step, untrusted: { problem } },
    text: [`Proposal ${found.proposal_id} is ${found.status}. ${next_step}`, ...lines].join('\n'),
    blocked: found.status !== 'auto_promoted',
  };
}

async function limits({ api, authorityKey, signal }: ToolContext): Promise<Authority | null> {
  const params = { authority_key: authorityKey };
  const ask = () => api.call('getAgentAuthority', { params, signal });
  return orNull(async () => read(authorityAnswer, await ask()), signal);
}

/** Returns the result, or null on an error; used for details that are not necessary. */
async function orNull<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Error) return null;
    throw error;
  }
}

function nextStep({
  status,
  template_key,
  template_version,
}: Pick<ProposalAnswer, 'status' | 'template_key' | 'template_version'>): string {
  switch (status) {
    case 'auto_promoted':
      return `Its template is ${template_key ?? ''}, version ${String(template_version)}. A movement of it still waits for an operator's approval.`;
    case 'submitted':
      return 'The proposal is stored and waits for an admin; do not send it again. get_proposal shows when it is promoted.';
    case 'rejected':
      return 'The proposal has ended; propose something else.';
    case 'expired':
      return 'The proposal has expired; propose it again if it is still needed.';
    default:
      return 'get_proposal shows the later state of the proposal.';
  }
}
