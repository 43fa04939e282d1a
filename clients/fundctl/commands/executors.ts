/** The commands `fundctl executors` and `fundctl registry`. */
import type { Group } from '../../command-line/command.ts';
import { operation } from '../../command-line/operation.ts';
import { text } from '../../command-line/options.ts';
import { listing } from '../../command-line/paging.ts';
import type { Session } from '../../command-line/session.ts';
import { failure } from '../../command-line/words.ts';
import type { ResultOf } from '../../http/operations.ts';
import { AUDIT } from './audit.ts';

export const executors: Group = {
  name: 'executors',
  about: 'Executors: what acts on venues',
  commands: [
    operation('listExecutors', {
      name: 'list',
      about: 'List executors with their health',
      show: (session, body) =>
        session.table(body, {
          EXECUTOR: 'executor_key',
          KIND: 'kind',
          STATUS: { state: 'status' },
          HEALTH: { state: 'health_state' },
          LOOKED: { age: 'health_checked_at' },
          PROVIDER: (row) => row.provider ?? row.chain_family,
          ACTIONS: (row) => row.action_types.join(', '),
          KNOWN: 'source',
        }),
    }),
    switching('enable', 'Let an executor act again (admin)', 'active'),
    switching(
      'disable',
      'Stop an executor: what has not passed its fence fails, and nothing is sent (admin)',
      'disabled',
    ),
  ],
};

function switching(name: string, about: string, status: 'active' | 'disabled') {
  return operation('updateExecutorStatus', {
    name,
    about,
    args: { executorKey: 'key of the executor' },
    options: { reason: text('text', 'kept in the audit') },
    ask: `Make it ${status}?`,
    what: ({ args }) => ({ executor: args.executorKey }),
    input: ({ args, options: { reason } }) => ({
      params: { executor_key: args.executorKey },
      body: { status, reason },
    }),
    show: executorText,
  });
}

function executorText({ view }: Session, row: ResultOf<'updateExecutorStatus'>): string {
  return view.fields(row, {
    executor: 'executor_key',
    status: { state: 'status' },
    health: { state: 'health_state' },
    kind: 'kind',
    endpoint: 'endpoint',
    updated: { when: 'updated_at' },
  });
}

export const registry: Group = {
  name: 'registry',
  about: 'Whether what is stored and what runs are the same',
  commands: [
    operation('verifyRegistryDrift', {
      name: 'verify-drift',
      about: 'Compare the stored registries with the process that answers (admin)',
      details: 'Ends with 1 where they differ.',
      show: (session, { drift }) =>
        session.table(
          drift,
          {
            KIND: 'kind',
            KEY: 'key',
            PROBLEM: (row) => ({ text: row.problem, tone: 'bad' }),
            EXPECTED: 'expected',
            OBSERVED: 'observed',
          },
          'They are the same.',
        ),
      after: ({ ok }) => {
        if (!ok) throw failure('The stored registries differ from those of the running process.');
      },
    }),
    listing('listRegistryAudit', {
      name: 'audit',
      about: 'Who changed executors, signers, bridges, the perps venue and the cutover switch',
      ...AUDIT,
    }),
  ],
};
