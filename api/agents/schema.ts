/** The wire contract of agents: authorities, proposals and bridge attempts. */
import { z } from 'zod';
import { PROTOCOL_FAMILIES } from '../../domain/actions/spec.ts';
import { PROMOTION_MODES, PROPOSAL_KINDS, PROPOSAL_REASONS } from '../../domain/agents/proposal.ts';
import { PROPOSAL_STATUSES } from '../../domain/states/proposal.ts';
import { nextCursor, pageParameters } from '../http/paging.ts';
import {
  assetCode,
  decimalString,
  int32,
  jsonObject,
  listOf,
  positiveDecimal,
  text,
  timestamp,
  uuid,
} from '../http/schemas.ts';
import { callbackUrl, idempotencyKey } from '../movements/schema.ts';

/**
 * The form of a key tool's `--authority-key`: the key is part of a namespace, a template key and a
 * path.
 */
export const authorityKey = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    'must be 1 to 64 of A-Z a-z 0-9 . _ - and begin with a letter or digit',
  );

export const agentAuthority = z
  .object({
    authority_key: z.string(),
    namespace: z.string(),
    key_id: z.string().nullable().meta({ description: 'The active key that is bound to it.' }),
    client_id: z.string().nullable(),
    max_notional: decimalString.nullable().meta({
      description: 'Of one proposal, and of one movement in each asset; null covers no amount.',
    }),
    allowed_assets: z.array(z.string()).readonly(),
    allowed_chains: z.array(z.string()).readonly(),
    max_ttl_seconds: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'Null: as long as a proposal may ask for.' }),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({
    id: 'AgentAuthority',
    description:
      'What an agent may propose and create. An absent limit is null; an empty list allows nothing.',
  });

/** Schema of a part of a template key, and so of a URL path. */
const name = (max: number) =>
  z
    .string()
    .regex(
      new RegExp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,${String(max - 1)}}$`),
      `must be 1 to ${String(max)} of A-Z a-z 0-9 . _ - and begin with a letter or digit`,
    );

const YEAR = 31_536_000;

const EXAMPLE = {
  asset: 'USDC',
  protocol_family: 'onchain_transfer',
  proposal_kind: 'ephemeral',
  source_chain: 'local-chain',
  destination_chain: 'local-chain',
  destination_chain_id: 31337,
  destination_address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  signer_profile: 'treasury',
  requested_notional: '125.5',
  ttl_seconds: 900,
} as const;

const proposalFields = {
  asset: assetCode.meta({ description: 'Stored in upper case.' }),
  protocol_family: name(64).meta({
    description: `Which blueprint the plan is made by: ${PROTOCOL_FAMILIES.join(', ')}. Of any other the proposal is rejected.`,
  }),
  proposal_kind: z.enum(PROPOSAL_KINDS).meta({
    description:
      "`static`: one version, for up to the authority's max_notional. `ephemeral`: a version whose max_amount covers the notional.",
  }),
  source_chain: name(48).meta({
    description:
      "Where the funds are: a chain's venue key or decimal id, an exchange account's or the perps venue's venue key.",
  }),
  destination_chain: name(48).meta({
    description:
      'Where they go: likewise; for a withdrawal from an exchange its name for the network.',
  }),
  destination_chain_id: int32(1),
  destination_address: text(1, 256),
  signer_profile: text(1, 128),
  requested_notional: positiveDecimal.meta({ description: 'In units of the asset.' }),
  ttl_seconds: int32(1).max(YEAR).meta({ description: 'Until it expires unless promoted.' }),
};

const ownKey = idempotencyKey.optional().meta({
  description: 'May be sent as the header `Idempotency-Key` instead; both must be equal.',
});

export const proposalBody = z
  .strictObject({ ...proposalFields, idempotency_key: ownKey })
  .meta({ id: 'TemplateProposalRequest', examples: [EXAMPLE] });

export const attemptBody = z
  .strictObject({
    ...proposalFields,
    callback_url: callbackUrl
      .optional()
      .meta({ description: 'Of the movement: where its state changes are sent.' }),
    idempotency_key: ownKey,
  })
  .meta({
    id: 'BridgeAttemptRequest',
    examples: [{ ...EXAMPLE, callback_url: 'https://agent.example/callbacks' }],
  });

export type ProposalBody = z.output<typeof proposalBody>;
export type AttemptBody = z.output<typeof attemptBody>;

const answered = {
  proposal_id: uuid,
  authority_key: z.string(),
  status: z.enum(PROPOSAL_STATUSES).meta({
    description:
      '`auto_promoted` in either way; `promotion_mode` says which. `rejected`: no plan can be made of it.',
  }),
  promotion_mode: z.enum(PROMOTION_MODES).nullable(),
  template_key: z.string().nullable(),
  template_version: z.int().nullable(),
  reasons: listOf(z.enum(PROPOSAL_REASONS)).meta({
    description:
      'Why the service did not promote it by itself; of one that an administrator promoted, what was waived.',
  }),
  expires_at: timestamp,
  created_at: timestamp,
};

export const proposalResponse = z.object(answered).meta({ id: 'TemplateProposal' });
export type ProposalResponse = z.input<typeof proposalResponse>;

export const proposalDetail = z
  .object({
    ...answered,
    proposal: jsonObject.meta({ description: 'What was proposed.' }),
    problem: z
      .string()
      .nullable()
      .meta({ description: 'Why no plan can be made of it, in a sentence.' }),
    movement_id: uuid
      .nullable()
      .meta({ description: 'Of a bridge attempt: the movement that it made.' }),
  })
  .meta({ id: 'TemplateProposalDetail' });
export type ProposalDetail = z.input<typeof proposalDetail>;

export const proposalListQuery = z.strictObject({
  status: z.enum(PROPOSAL_STATUSES).optional(),
  authority_key: authorityKey.optional().meta({ description: 'Only proposals of this agent.' }),
  ...pageParameters,
});

export const proposalList = z
  .object({ template_proposals: listOf(proposalDetail), next_cursor: nextCursor })
  .meta({ id: 'TemplateProposalListResponse' });

export const attemptResponse = z
  .object({
    proposal_id: uuid,
    status: answered.status,
    movement_id: uuid.nullable().meta({ description: 'Null while the proposal is not promoted.' }),
    template_key: z.string().nullable(),
    template_version: z.int().nullable(),
  })
  .meta({ id: 'BridgeAttempt' });
export type AttemptResponse = z.input<typeof attemptResponse>;
