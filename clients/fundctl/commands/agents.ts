/** `fundctl proposals` and `authorities`: what agents propose, and what agents may do. */
import { PROPOSAL_STATUSES } from '../../../domain/states/proposal.ts';
import { answerOf, command, type Group } from '../../command-line/command.ts';
import { operation, rowsOf, YES } from '../../command-line/operation.ts';
import { choice, text } from '../../command-line/options.ts';
import { listing } from '../../command-line/paging.ts';
import type { Columns } from '../../command-line/columns.ts';
import type { View } from '../../command-line/view.ts';
import type { ResultOf, RowOf } from '../../http/operations.ts';

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
    listing('listTemplateProposals', {
      name: 'list',
      about: 'List proposals, newest first',
      examples: ['fundctl proposals list --status submitted'],
      options: {
        status: choice(PROPOSAL_STATUSES, 'only proposals in this status'),
        authority: text('authority-key', 'only proposals of this agent'),
      },
      query: ({ status, authority }) => ({ status, authority_key: authority }),
      columns: COLUMNS,
    }),
    operation('getTemplateProposal', {
      name: 'show',
      about: 'Show a proposal, with what was proposed and what stands in its way',
      args: PROPOSAL,
      input: ({ args }) => ({ params: { proposal_id: args.proposalId } }),
      show: ({ view }, proposal) => proposalText(view, proposal),
    }),
    command({
      name: 'promote',
      about: "Let a proposal become a template, beyond its agent's limits (admin)",
      args: PROPOSAL,
      options: YES,
      answer: answerOf('promoteTemplateProposal'),
      run: async ({ session, args, options: { yes } }) => {
        const params = { proposal_id: args.proposalId };
        const proposal = await session.call('getTemplateProposal', { params });
        await session.confirm('Promote this?', {
          yes,
          what: proposalText(session.aside, proposal),
        });
        const promoted = await session.call('promoteTemplateProposal', { params });
        await session.print(promoted, () =>
          proposalText(session.view, { ...proposal, ...promoted }),
        );
      },
    }),
  ],
};

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
    view.record(rowsOf(fields)),
  ].join('');
}

export const authorities: Group = {
  name: 'authorities',
  about: 'What agents may propose and create',
  commands: [
    operation('getAgentAuthority', {
      name: 'show',
      about: 'Show the limits of an agent',
      args: { authorityKey: 'key of the authority' },
      input: ({ args }) => ({ params: { authority_key: args.authorityKey } }),
      show: ({ view }, found) =>
        view.fields(found, {
          authority: 'authority_key',
          namespace: 'namespace',
          key: ({ key_id }) => key_id ?? 'none is active',
          client: 'client_id',
          'amount at most': ({ max_notional }) => max_notional ?? 'none is covered',
          assets: ({ allowed_assets }) => allowed_assets.join(', ') || 'none',
          chains: ({ allowed_chains }) => allowed_chains.join(', ') || 'none',
          'seconds at most': (row) => row.max_ttl_seconds ?? 'as long as a proposal may ask for',
          updated: { when: 'updated_at' },
        }),
    }),
  ],
};
