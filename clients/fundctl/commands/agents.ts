/** `fundctl proposals` and `authorities`: what agents propose, and what they may. */
import { PROPOSAL_STATUSES } from '../../../domain/states/proposal.ts';
import { answerOf, command, type Group } from '../../command-line/command.ts';
import { choice, text } from '../../command-line/options.ts';
import { defined, PAGE, printList } from '../../command-line/paging.ts';
import type { Session } from '../../command-line/session.ts';
import type { Columns } from '../../command-line/table.ts';
import { type View } from '../../command-line/view.ts';
import { when } from '../../command-line/words.ts';
import type { ResultOf, RowOf } from '../../http/operations.ts';
import { YES } from '../shared.ts';

type Proposal = ResultOf<'getTemplateProposal'>;
const PROPOSAL = { proposalId: 'id of the proposal' };

const COLUMNS: Columns<RowOf<'listTemplateProposals'>> = {
  PROPOSAL: 'proposal_id',
  OF: 'authority_key',
  STATUS: { state: 'status' },
  ASSET: (row) => fieldOf(row, 'asset'),
  NOTIONAL: { right: (row) => fieldOf(row, 'requested_notional') },
  FROM: (row) => fieldOf(row, 'source_chain'),
  TO: (row) => fieldOf(row, 'destination_chain'),
  REASONS: (row) => row.reasons.join(', '),
  AGE: { age: 'created_at' },
};

function fieldOf({ proposal }: RowOf<'listTemplateProposals'>, name: string): string {
  const value = proposal[name];
  return typeof value === 'string' ? value : '';
}

export const proposals: Group = {
  name: 'proposals',
  about: 'Templates that agents propose',
  commands: [
    command({
      name: 'list',
      about: 'List proposals, newest first',
      examples: ['fundctl proposals list --status submitted'],
      options: {
        status: choice(PROPOSAL_STATUSES, 'only proposals in this status'),
        authority: text('authority-key', 'only proposals of this agent'),
        ...PAGE,
      },
      answer: answerOf('listTemplateProposals'),
      run: ({ session, options: { status, authority, ...page } }) =>
        printList(session, 'listTemplateProposals', {
          query: defined({ status, authority_key: authority }),
          page,
          columns: COLUMNS,
        }),
    }),
    command({
      name: 'show',
      about: 'Show a proposal, with what was proposed and what stands in its way',
      args: PROPOSAL,
      answer: answerOf('getTemplateProposal'),
      run: async ({ session, args }) => {
        const proposal = await read(session, args.proposalId);
        await session.print(proposal, () => proposalText(session.view, proposal));
      },
    }),
    command({
      name: 'promote',
      about: "Let a proposal become a template, beyond its agent's limits (admin)",
      args: PROPOSAL,
      options: YES,
      answer: answerOf('promoteTemplateProposal'),
      run: async ({ session, args, options: { yes } }) => {
        const proposal = await read(session, args.proposalId);
        await session.confirm('Promote this?', {
          yes,
          what: proposalText(session.aside, proposal),
        });
        const params = { proposal_id: args.proposalId };
        const promoted = await session.call('promoteTemplateProposal', { params });
        await session.print(promoted, () =>
          proposalText(session.view, { ...proposal, ...promoted }),
        );
      },
    }),
  ],
};

async function read(session: Session, proposalId: string): Promise<Proposal> {
  return session.call('getTemplateProposal', { params: { proposal_id: proposalId } });
}

function proposalText(view: View, proposal: Proposal): string {
  const { template_key: key, template_version: version, reasons, proposal: fields } = proposal;
  return [
    view.fields(proposal, {
      proposal: 'proposal_id',
      of: 'authority_key',
      status: { state: 'status' },
      'promoted by': 'promotion_mode',
      template: () => (key === null ? null : `${key}@${String(version)}`),
      reasons: () => (reasons.length === 0 ? null : { text: reasons.join(', '), tone: 'bad' }),
      problem: 'problem',
      movement: 'movement_id',
      expires: { when: 'expires_at' },
      created: { when: 'created_at' },
    }),
    view.heading('What is proposed'),
    view.record(
      Object.entries(fields).map(
        ([name, value]) =>
          [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
      ),
    ),
  ].join('');
}

export const authorities: Group = {
  name: 'authorities',
  about: 'What agents may propose and create',
  commands: [
    command({
      name: 'show',
      about: 'Show the limits of an agent',
      args: { authorityKey: 'key of the authority' },
      answer: answerOf('getAgentAuthority'),
      run: async ({ session, args }) => {
        const params = { authority_key: args.authorityKey };
        const found = await session.call('getAgentAuthority', { params });
        const all = (names: readonly string[]) => names.join(', ') || 'none';
        await session.print(found, () =>
          session.view.record([
            ['authority', found.authority_key],
            ['namespace', found.namespace],
            ['key', found.key_id ?? 'none is active'],
            ['client', found.client_id],
            ['amount at most', found.max_notional ?? 'none is covered'],
            ['assets', all(found.allowed_assets)],
            ['chains', all(found.allowed_chains)],
            ['seconds at most', found.max_ttl_seconds ?? 'as long as a proposal may ask for'],
            ['updated', when(found.updated_at)],
          ]),
        );
      },
    }),
  ],
};
