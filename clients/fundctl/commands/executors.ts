/** `fundctl executors` and `registry`. */
import { answerOf, command, type Group } from '../../command-line/command.ts';
import { reading } from '../../command-line/reading.ts';
import { text } from '../../command-line/options.ts';
import { defined, PAGE } from '../../command-line/paging.ts';
import type { Session } from '../../command-line/session.ts';
import { failure } from '../../command-line/words.ts';
import type { ResultOf } from '../../http/operations.ts';
import { YES } from '../shared.ts';
import { AUDIT_FILTERS, printAudit } from './audit.ts';

const EXECUTOR = { executorKey: 'key of the executor' };
const WHY = { reason: text('text', 'kept in the audit') };
type Status = 'active' | 'disabled';

export const executors: Group = {
  name: 'executors',
  about: 'Executors: what acts on venues',
  commands: [
    reading('listExecutors', {
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
    command({
      name: 'enable',
      about: 'Let an executor act again (admin)',
      args: EXECUTOR,
      options: { ...WHY, ...YES },
      answer: answerOf('updateExecutorStatus'),
      run: ({ session, args, options }) =>
        switched(session, { key: args.executorKey, status: 'active', ...options }),
    }),
    command({
      name: 'disable',
      about: 'Stop an executor: what has not passed its fence fails, and nothing is sent (admin)',
      args: EXECUTOR,
      options: { ...WHY, ...YES },
      answer: answerOf('updateExecutorStatus'),
      run: ({ session, args, options }) =>
        switched(session, { key: args.executorKey, status: 'disabled', ...options }),
    }),
  ],
};

interface Switch {
  readonly key: string;
  readonly status: Status;
  readonly reason: string | undefined;
  readonly yes: boolean;
}

async function switched(session: Session, { key, status, reason, yes }: Switch): Promise<void> {
  await session.confirm(`Make it ${status}?`, {
    yes,
    what: session.aside.record([['executor', key]]),
  });
  const row = await session.call('updateExecutorStatus', {
    params: { executor_key: key },
    body: { status, ...defined({ reason }) },
  });
  await session.print(row, () => executorText(session, row));
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
    command({
      name: 'verify-drift',
      about: 'Compare the stored registries with the process that answers (admin)',
      details: 'Ends with 1 where they differ.',
      answer: answerOf('verifyRegistryDrift'),
      run: async ({ session }) => {
        const body = await session.call('verifyRegistryDrift');
        await session.print(body, () =>
          session.table(
            body.drift,
            {
              KIND: 'kind',
              KEY: 'key',
              PROBLEM: (row) => ({ text: row.problem, tone: 'bad' }),
              EXPECTED: 'expected',
              OBSERVED: 'observed',
            },
            'They are the same.',
          ),
        );
        if (!body.ok) throw failure('What is stored and what runs differ.');
      },
    }),
    command({
      name: 'audit',
      about: 'Who changed executors, signers, bridges, the perps venue and the cutover switch',
      options: { ...AUDIT_FILTERS, ...PAGE },
      answer: answerOf('listRegistryAudit'),
      run: ({ session, options }) => printAudit(session, 'listRegistryAudit', options),
    }),
  ],
};
