/** The commands `fundctl audit`. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import {
  command,
  type Group,
  type JsonSchema,
  type OptionValues,
} from '../../command-line/command.ts';
import { usageError } from '../../command-line/exit.ts';
import { operation } from '../../command-line/operation.ts';
import { choice, file, text } from '../../command-line/options.ts';
import { listing } from '../../command-line/paging.ts';
import type { Session, Sparse } from '../../command-line/session.ts';
import type { Columns } from '../../command-line/columns.ts';
import { failure, textFile } from '../../command-line/words.ts';
import type { QueryOf, RowOf } from '../../http/operations.ts';

const FILTERS = {
  from: text('time', 'only from then on (ISO 8601)'),
  to: text('time', 'only before then'),
  client: text('client-id', 'only what this client did'),
  key: text('key-id', 'only what was done with this key'),
  entityType: text('type', 'only about things of this type'),
  entityKey: text('key', 'only about this thing'),
  action: text('action', 'only this action, such as movement.approve'),
  outcome: choice(['success', 'denied', 'failed'], 'only what ended so'),
  requestId: text('id', 'only what this request left'),
  namespace: text('namespace', 'only of this namespace'),
};
const COLUMNS: Columns<RowOf<'listAuditEvents'>> = {
  TIME: { when: 'occurred_at' },
  ACTION: 'action',
  OUTCOME: { state: 'outcome' },
  THING: (row) => `${row.entity_type} ${row.entity_key}`,
  KEY: (row) => row.actor_key_id ?? row.actor_role,
  REASON: 'reason',
  REQUEST: 'request_id',
};

/** Filters of both audit lists. The service refuses an unknown action or entity type. */
type Query = Sparse<QueryOf<'listAuditEvents'> & QueryOf<'listRegistryAudit'>>;

/** Options and query of a list of audit events, for all events or only registry events. */
export const AUDIT = {
  options: FILTERS,
  query: (options: OptionValues<typeof FILTERS>): Query => ({
    time_range_start: options.from,
    time_range_end: options.to,
    actor_client_id: options.client,
    actor_key_id: options.key,
    entity_type: options.entityType as Query['entity_type'],
    entity_key: options.entityKey,
    action: options.action as Query['action'],
    outcome: options.outcome,
    request_id: options.requestId,
    namespace: options.namespace,
  }),
  columns: COLUMNS,
};

const BUNDLE: JsonSchema = {
  type: 'object',
  required: ['ok', 'records', 'seals', 'trusted', 'fault'],
  properties: {
    ok: { type: 'boolean' },
    from: { type: 'string' },
    to: { type: 'string' },
    records: { type: 'integer' },
    seals: { type: 'integer' },
    head: { type: 'object' },
    signed_by: { type: 'string', description: 'SHA-256 of the public key.' },
    trusted: { type: 'boolean', description: 'Signed with the key of --public-key.' },
    fault: { type: ['string', 'null'] },
  },
};

export const audit: Group = {
  name: 'audit',
  about: 'Who did what, when, and what was refused',
  commands: [
    listing('listAuditEvents', {
      name: 'list',
      about: 'List audit events, newest first',
      ...AUDIT,
    }),
    operation('getAuditSeal', {
      name: 'seal',
      about: 'Show how far the trail is sealed',
      show: ({ view }, body) =>
        view.fields(body, {
          sealed: 'sealed',
          'last sealed': 'sealed_at',
          'chain hash': 'chain_hash',
          overdue: () => (body.overdue ? { text: 'yes', tone: 'bad' } : 'no'),
        }),
    }),
    command({
      name: 'check-bundle',
      about: 'Check an exported bundle: its signature, its chain, its records',
      details:
        'Needs neither the service nor its database. Whether the database itself is as it was written, fundadmin audit verify tells.',
      examples: ['fundctl audit check-bundle bundle.jsonl --public-key auditor.pem'],
      args: { file: 'what fundadmin audit export has written' },
      options: { publicKey: file('the key (PEM) it must be signed with') },
      answer: { schema: BUNDLE },
      run: async ({ session, args, options }) => {
        const { publicKey: keyFile } = options;
        const expected = keyFile === undefined ? null : await publicKey(session, keyFile);
        const { checkBundle } = await import('../../../tools/audit/check-bundle.ts');
        const result = await checkBundle(args.file, expected).catch((error: unknown) => {
          throw usageError(`${args.file} cannot be read.`, { cause: error });
        });
        await session.print(result, () =>
          session.view.fields(result, {
            whole: () => (result.ok ? { text: 'yes', tone: 'good' } : { text: 'no', tone: 'bad' }),
            fault: 'fault',
            records: 'records',
            from: 'from',
            to: 'to',
            'signed by': 'signed_by',
            'by --public-key': () => (result.trusted ? 'yes' : 'not checked'),
          }),
        );
        if (!result.ok) throw failure(`The bundle is not as it was signed: ${result.fault ?? ''}`);
        if (!result.trusted) session.note('Without --public-key anybody may have signed it.');
      },
    }),
  ],
};

async function publicKey(session: Session, path: string): Promise<KeyObject> {
  const pem = await textFile(session.io, path);
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // Not a key: the error below reports that.
  }
  throw usageError(`${path} holds no Ed25519 public key.`);
}
