/** Builds docs/states.md: the lifecycles, drawn from their transition tables. */
import { API_KEY_STATUSES, API_KEY_TABLE, type ApiKeyStatus } from '../../domain/states/api-key.ts';
import {
  TRANSFER_STATES,
  TRANSFER_TABLE,
  type TransferState,
} from '../../domain/states/capital-transfer.ts';
import {
  ACTION_STATES,
  MOVEMENT_STATES,
  MOVEMENT_TABLE,
  type MovementState,
} from '../../domain/states/movement.ts';
import { NODE_STATES, NODE_TABLE, type NodeState } from '../../domain/states/node.ts';
import {
  PROPOSAL_STATUSES,
  PROPOSAL_TABLE,
  type ProposalStatus,
} from '../../domain/states/proposal.ts';
import { SIGNER_STATUSES, SIGNER_TABLE, type SignerStatus } from '../../domain/states/signer.ts';
import {
  AGENT_WALLET_STATES,
  AGENT_WALLET_TABLE,
  type AgentWalletState,
} from '../../domain/states/agent-wallet.ts';
import {
  TEMPLATE_STATUSES,
  TEMPLATE_TABLE,
  type TemplateStatus,
} from '../../domain/states/template-version.ts';
import type { TransitionTable } from '../../domain/states/table.ts';

export const STATES_FILE = 'docs/states.md';

const OF_MOVEMENTS: Readonly<Record<MovementState, string>> = {
  PENDING_APPROVAL: 'waits until somebody approves the hash of its plan, or the time is over',
  APPROVED: 'approved; its run has not started yet',
  EXECUTING: 'nodes are at work',
  COMPLETED: 'everything that the plan requires has been shown',
  FAILED: 'a node failed and no edge leads on; a retry may go on from there',
  WAITING_MANUAL_ACTION: 'a gate waits for a person',
  MANUAL_INTERVENTION: 'unknown whether a node has moved anything; nothing new is sent',
  REJECTED: 'refused by a person; nothing was sent',
  EXPIRED: 'not approved in time; nothing was sent',
  CANCELLED: 'nothing new begins; what was in flight is followed, then what a cancel leads to runs',
};

const OF_NODES: Readonly<Record<NodeState, string>> = {
  BLOCKED: 'an edge into it has not fired yet',
  READY: 'its turn: preflight and prepare, which move nothing',
  SUBMITTING: 'past the fence: from here on something may have been sent',
  SUBMITTED: 'accepted by the other side',
  OBSERVING: 'looked at until its end is shown',
  COMPLETED: 'shown to have happened',
  FAILED: 'proven that nothing landed and nothing will, or abandoned by a person',
  UNKNOWN: 'the outcome is unknown; polled until there is proof',
  SKIPPED: 'its edges will not fire',
  CANCELLED: 'stopped before its fence',
};

const OF_TRANSFERS: Readonly<Record<TransferState, string>> = {
  CREATED: 'written down, nothing sent',
  SUBMITTING: 'past the fence: from here on the provider may have it',
  PENDING_PROVIDER_CONFIRMATION: "the provider's record is polled",
  COMPLETED: "the provider's record shows it",
  FAILED: 'proven that it did not happen and will not',
  MANUAL_INTERVENTION: 'the outcome is unknown; a person resolves it with evidence',
};

const OF_SIGNERS: Readonly<Record<SignerStatus, string>> = {
  active: 'may be bound, and signs',
  disabled: 'switched off by a person: approvals and fences that need it are refused',
  deprecated: 'replaced by a rotation: it signs the nodes that were kept with it and nothing else',
  retired: 'signs nothing',
};

const OF_KEYS: Readonly<Record<ApiKeyStatus, string>> = {
  active: 'its requests are accepted',
  revoked: 'its requests are refused from the next one on; the row stays',
};

const OF_PROPOSALS: Readonly<Record<ProposalStatus, string>> = {
  submitted: 'waits for an administrator, until its time is over',
  auto_promoted: 'became a template version',
  rejected: 'no blueprint can make a template of it',
  expired: 'its time passed before it was promoted',
};

const OF_TEMPLATES: Readonly<Record<TemplateStatus, string>> = {
  active: 'movements are made from it',
  retired: 'nothing new is made from it; movements that it made go on',
};

const OF_AGENT_WALLETS: Readonly<Record<AgentWalletState, string>> = {
  pending: 'its approval is signed and sent, and the venue has not listed it yet',
  active: 'the venue has listed it as it was signed',
  expired: 'its valid_until has passed',
  replaced: 'another one of its name became active',
  refused: 'the venue refused its approval for good, or did not list it while it could',
};

/** Returns the text of the page. */
export function statesPage(): string {
  return [
    '# States',
    '',
    '<!-- Written by `npm run docs:tables` from domain/states/; not by hand. -->',
    '',
    'Every change of a state is one of these arrows, and is written as compare-and-set. What moves a',
    'node along them, phase by phase, is in [executors.md](executors.md); what may be done where a',
    'movement needs a person, in [operations.md](operations.md).',
    '',
    ...section('A movement', MOVEMENT_STATES, MOVEMENT_TABLE, OF_MOVEMENTS),
    'What a person may ask for, and in which states:',
    '',
    '| action | states |',
    '|---|---|',
    ...Object.entries(ACTION_STATES).map(
      ([action, states]) => `| ${action} | ${states.join(', ')} |`,
    ),
    '',
    ...section('A node', NODE_STATES, NODE_TABLE, OF_NODES),
    ...section('A capital transfer', TRANSFER_STATES, TRANSFER_TABLE, OF_TRANSFERS),
    ...section('A signer', SIGNER_STATUSES, SIGNER_TABLE, OF_SIGNERS),
    ...section('An agent wallet', AGENT_WALLET_STATES, AGENT_WALLET_TABLE, OF_AGENT_WALLETS),
    ...section('An API key', API_KEY_STATUSES, API_KEY_TABLE, OF_KEYS),
    ...section('A template version', TEMPLATE_STATUSES, TEMPLATE_TABLE, OF_TEMPLATES),
    ...section('A template proposal', PROPOSAL_STATUSES, PROPOSAL_TABLE, OF_PROPOSALS),
  ]
    .join('\n')
    .replace(/\n+$/, '\n');
}

function section<State extends string>(
  title: string,
  states: readonly State[],
  table: TransitionTable<State>,
  meaning: Readonly<Record<State, string>>,
): readonly string[] {
  return [
    `## ${title}`,
    '',
    '```mermaid',
    ...lifecycle(states, table),
    '```',
    '',
    '| state | |',
    '|---|---|',
    ...states.map((state) => `| ${state} | ${meaning[state]} |`),
    '',
  ];
}

/** Returns a state table as a diagram, from the first state to the states without moves. */
export function lifecycle<State extends string>(
  states: readonly State[],
  table: TransitionTable<State>,
): readonly string[] {
  const [first = ''] = states;
  const ends = states.filter((state) => table.moves[state].length === 0);
  return [
    'stateDiagram-v2',
    `  [*] --> ${first}`,
    ...states.flatMap((state) => table.moves[state].map((to) => `  ${state} --> ${to}`)),
    ...ends.map((state) => `  ${state} --> [*]`),
  ];
}
