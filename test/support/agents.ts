/** Agents with authorities of their own on the shared stack, and what they propose. */
import { randomUUID } from 'node:crypto';
import type { SigningKey } from '../../dev/stack/keys.ts';
import { must, sendAs, shared, sql, type Answer } from './http.ts';
import { TEST_SIGNER } from './shared-stack-facts.ts';
import { issueKey } from './tool.ts';

export interface Agent extends SigningKey {
  readonly clientId: string;
  readonly authority: string;
  readonly namespace: string;
}

export interface Limits {
  readonly most?: string;
  readonly assets?: string;
  readonly chains?: string;
  readonly ttl?: string;
}

const FLAGS = {
  most: '--max-notional',
  assets: '--allowed-assets',
  chains: '--allowed-chains',
  ttl: '--max-ttl-seconds',
} as const;

const limitOptions = (limits: Limits): string[] =>
  (Object.keys(limits) as (keyof Limits)[]).flatMap((name) => [FLAGS[name], limits[name] ?? '']);

/** An agent's key with an authority of its own. */
export async function agent(limits: Limits = {}, client = 'agents'): Promise<Agent> {
  const authority = `a${randomUUID().slice(0, 13)}`;
  const all = { most: '100', assets: 'USDC', chains: 'local-chain', ttl: '3600', ...limits };
  const key = await issueKey(
    '--client-name',
    client,
    '--key-id',
    `key-${authority}`,
    '--role',
    'agent',
    '--authority-key',
    authority,
    ...limitOptions(all),
  );
  return { ...key, authority, namespace: `agent/${authority}` };
}

/** Gives the authority other limits, and with them a new key. */
export async function relimited(of: Agent, limits: Limits): Promise<Agent> {
  const key = await issueKey(
    '--client-name',
    'agents',
    '--key-id',
    `key-${randomUUID()}`,
    '--role',
    'agent',
    '--authority-key',
    of.authority,
    '--replace',
    ...limitOptions(limits),
  );
  return { ...of, ...key };
}

export interface ProposalView {
  readonly proposal_id: string;
  readonly authority_key: string;
  readonly status: string;
  readonly promotion_mode: string | null;
  readonly template_key: string | null;
  readonly template_version: number | null;
  readonly reasons: readonly string[];
  readonly expires_at: string;
  readonly created_at: string;
}

export interface AttemptView {
  readonly proposal_id: string;
  readonly status: string;
  readonly movement_id: string | null;
  readonly template_key: string | null;
  readonly template_version: number | null;
}

/** A transfer of 40 USDC to the treasury, which every limit of {@link agent} covers. */
export function proposal(more: object = {}) {
  const { chainId, accounts } = shared.chain;
  return {
    asset: 'USDC',
    protocol_family: 'onchain_transfer',
    proposal_kind: 'ephemeral',
    source_chain: 'local-chain',
    destination_chain: 'local-chain',
    destination_chain_id: chainId,
    destination_address: accounts.treasury.address,
    signer_profile: TEST_SIGNER.profile,
    requested_notional: '40',
    ttl_seconds: 600,
    ...more,
  };
}

export const propose = <T = ProposalView>(
  of: Agent,
  more: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<T>> =>
  sendAs<T>(
    of,
    'POST',
    `/agent-authorities/${of.authority}/template-proposals`,
    proposal(more),
    headers,
  );

export const attempt = <T = AttemptView>(
  of: Agent,
  more: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<T>> =>
  sendAs<T>(
    of,
    'POST',
    `/agent-authorities/${of.authority}/bridge-attempt`,
    proposal(more),
    headers,
  );

export const promote = <T = ProposalView>(proposalId: string): Promise<Answer<T>> =>
  sendAs<T>(shared.keys.admin, 'POST', `/template-proposals/${proposalId}/promote`, {});

export const readProposal = <T = ProposalView>(key: SigningKey, id: string): Promise<T> =>
  must(200, sendAs<T>(key, 'GET', `/template-proposals/${id}`));

/** Takes a proposal's time away, as if it were over. */
export async function runOut(proposalId: string): Promise<void> {
  await sql('ALTER TABLE template_proposals DISABLE TRIGGER template_proposals_guard');
  await sql(
    `UPDATE template_proposals SET expires_at = now() - interval '1 second' WHERE proposal_id = $1`,
    [proposalId],
  );
  await sql('ALTER TABLE template_proposals ENABLE TRIGGER template_proposals_guard');
}
