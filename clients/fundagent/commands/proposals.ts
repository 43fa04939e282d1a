/** The commands `proposals` and `bridge-attempt`. */
import {
  authority as authorityAnswer,
  proposedFields,
  type Authority,
} from '../../agent/authority.ts';
import { explained } from '../../agent/reasons.ts';
import type { Group, OptionValues } from '../../command-line/command.ts';
import { CommandError, EXIT } from '../../command-line/exit.ts';
import { amount, choice, required, text, whole } from '../../command-line/options.ts';
import { agentCommand } from '../command.ts';
import type { Json, Session } from '../session.ts';
import { namedForApi, wordOf, wordsAt } from '../words.ts';

const proposal = {
  asset: required(text('code', 'what is to move')),
  protocolFamily: required(
    text('family', 'how: onchain_transfer, cctp, bridge_c, cex_withdrawal …'),
  ),
  proposalKind: choice(
    ['static', 'ephemeral'],
    'one version for all amounts, or one for this (static)',
  ),
  sourceChain: required(text('name', 'where from: a venue key or a chain id')),
  destinationChain: required(text('name', 'where to: likewise')),
  destinationChainId: required(whole('id', 'the number of the destination chain')),
  destinationAddress: required(text('address', 'who is paid; on the allowlist')),
  signerProfile: required(text('profile', 'the profile of the signer that pays')),
  requestedNotional: required(amount('how much at most')),
  ttlSeconds: required(whole('seconds', 'how long the proposal may wait')),
};
const idempotencyKey = text('key', 'makes a repeat safe');
function bodyOf({ proposalKind = 'static', ...fields }: OptionValues<typeof proposal>) {
  return namedForApi({ proposalKind, ...fields });
}

const readById = (session: Session, proposal_id: string): Promise<Json> =>
  session.call('getTemplateProposal', { params: { proposal_id } });

/**
 * Returns the new proposal with all its fields. If the read fails, returns the create's answer: an
 * agent that sees no answer would propose a second time.
 */
async function wholeOf(session: Session, made: Json): Promise<Json> {
  try {
    return { ...(await readById(session, wordOf(made, 'proposal_id'))), ...made };
  } catch (error) {
    session.note(`The proposal was stored, but could not be read again: ${wordsOf(error)}`);
    return made;
  }
}

const wordsOf = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : 'it failed';

const PROPOSAL = wordsAt({
  proposal: 'proposal_id',
  status: 'status',
  template: 'template_key',
  version: 'template_version',
  movement: 'movement_id',
  reasons: 'reasons',
  problem: 'problem',
  expires: 'expires_at',
});

/** Prints the proposal, then a note for each refusing rule: why, and how to satisfy the rule. */
async function show(session: Session, found: Json): Promise<void> {
  await session.print(found, () => session.fields(found, PROPOSAL));
  if (found['status'] === 'auto_promoted') return;
  for (const line of await wayOut(session, found)) session.note(line);
}

async function wayOut(session: Session, found: Json): Promise<readonly string[]> {
  const reasons = Array.isArray(found['reasons']) ? found['reasons'].map(String) : [];
  if (reasons.length === 0) return [];
  const known = {
    proposed: proposedFields.safeParse(found['proposal'] ?? {}).data ?? {},
    authority: await limitsFor(session),
  };
  return explained(reasons, known).map(({ rule, why, satisfy }) => `${rule}: ${why}; ${satisfy}.`);
}

/** Returns the authority's limits; null when the read fails: the notes then have no limits. */
async function limitsFor(session: Session): Promise<Authority | null> {
  try {
    const params = { authority_key: await session.authority() };
    const limits = authorityAnswer.safeParse(await session.call('getAgentAuthority', { params }));
    return limits.data ?? null;
  } catch {
    return null;
  }
}

/** Throws for a rejected proposal. A proposal that waits for an admin is stored, so no error. */
function endOf({ status, proposal_id }: Json): void {
  if (status === 'rejected')
    throw new CommandError(EXIT.refused, `The proposal ${String(proposal_id)} is rejected.`);
}

export const proposals: Group<Session> = {
  name: 'proposals',
  about: 'What the agent proposes.',
  commands: [
    agentCommand({
      name: 'create',
      about:
        'Propose a template; within the limits it is there at once, else it waits for an admin',
      options: { ...proposal, idempotencyKey },
      run: async ({ session, options: { idempotencyKey: key, ...fields } }) => {
        const params = { authority_key: await session.authority() };
        const call = { params, body: bodyOf(fields), idempotencyKey: key };
        const made = await session.write('createTemplateProposal', call);
        const isPromoted = made['status'] === 'auto_promoted';
        await show(session, isPromoted ? made : await wholeOf(session, made));
        endOf(made);
      },
    }),
    agentCommand({
      name: 'show',
      about: 'Show a proposal',
      args: { proposalId: '' },
      run: async ({ session, args }) => show(session, await readById(session, args.proposalId)),
    }),
  ],
};

export const bridgeAttempt = agentCommand({
  name: 'bridge-attempt',
  about:
    "Propose, and create the movement at once where it may; it waits for an operator's approval",
  options: {
    ...proposal,
    callbackUrl: text('url', "where the movement's state changes are sent"),
    idempotencyKey,
  },
  run: async ({ session, options: { idempotencyKey: key, callbackUrl, ...fields } }) => {
    const params = { authority_key: await session.authority() };
    const body = { ...bodyOf(fields), callback_url: callbackUrl };
    const made = await session.write('createBridgeAttempt', { params, body, idempotencyKey: key });
    await show(session, await wholeOf(session, made));
    endOf(made);
  },
});
