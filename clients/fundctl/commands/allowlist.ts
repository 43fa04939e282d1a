/** `fundctl allowlist`: the allowed payees. Changes are signed with an operator's dashboard key. */
import { command, type Group, type JsonSchema } from '../../command-line/command.ts';
import { YES } from '../../command-line/operation.ts';
import { choice, flag, required, text, whole } from '../../command-line/options.ts';
import { defined, PAGE } from '../../command-line/paging.ts';
import type { Session } from '../../command-line/session.ts';
import { state, type View } from '../../command-line/view.ts';
import { failure, when } from '../../command-line/words.ts';
import type { AllowedAddress, AllowedAddressChange } from '../../../api/dashboard/schema.ts';
import { everyRow, readRows, ROWS, writeRow } from '../dashboard.ts';
import { REASON } from '../shared.ts';

const FAMILY = choice(['evm', 'cex'], 'evm: what nodes on chains pay; cex: what exchanges pay');
const ROW = { id: 'id of the row' };

const nullable = (type: string): JsonSchema => ({ type: [type, 'null'] });
const FIELDS: Readonly<Record<string, JsonSchema>> = {
  id: { type: 'string' },
  chain_family: { enum: ['evm', 'cex'] },
  address: { type: 'string' },
  chain_id: nullable('integer'),
  label: nullable('string'),
  reason: { type: 'string' },
  active: { type: 'boolean' },
  usable_after: nullable('string'),
  created_by: { type: 'string' },
  created_at: { type: 'string' },
  updated_at: { type: 'string' },
  revoked_at: nullable('string'),
  revoked_by: nullable('string'),
};
const LIST: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['allowed_addresses', 'next_cursor'],
  properties: {
    allowed_addresses: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: Object.keys(FIELDS),
        properties: FIELDS,
      },
    },
    next_cursor: nullable('string'),
  },
};
const CHANGE: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  required: [...Object.keys(FIELDS), 'outcome', 'warnings'],
  properties: {
    ...FIELDS,
    outcome: { enum: ['created', 'reactivated', 'revoked', 'unchanged'] },
    warnings: { type: 'array', items: { type: 'object' } },
  },
};

export const allowlist: Group = {
  name: 'allowlist',
  about: 'The addresses that funds may leave to',
  commands: [
    command({
      name: 'list',
      about: 'List addresses; answered on the machine of the service alone',
      options: {
        family: FAMILY,
        chainId: whole('id', 'only rows of exactly this chain'),
        inactive: flag('with those that were revoked'),
        ...PAGE,
      },
      answer: { schema: LIST },
      run: async ({ session, options }) => {
        const query = defined({
          chain_family: options.family,
          chain_id: options.chainId === undefined ? undefined : String(options.chainId),
          include_inactive: options.inactive ? 'true' : undefined,
          limit: options.limit === undefined ? undefined : String(options.limit),
          cursor: options.cursor,
        }) as Readonly<Record<string, string>>;
        const { limit: _limit, cursor: _cursor, ...filters } = query;
        const body = options.all
          ? { allowed_addresses: await everyRow(session, filters), next_cursor: null }
          : await readRows(session, query);
        await session.print(body, () => rowsText(session, body.allowed_addresses));
        if (body.next_cursor !== null)
          session.note(`There are more: --cursor ${body.next_cursor}, or --all.`);
      },
    }),
    command({
      name: 'add',
      about: 'Let funds leave to an address (operator of the dashboard)',
      examples: [
        'fundctl allowlist add 0x… --family evm --chain-id 1 --label "cold wallet" --reason "new custody"',
      ],
      args: { address: 'the address' },
      options: {
        family: required(FAMILY),
        chainId: whole('id', 'on this chain alone; on every chain where it is left out'),
        label: text('text', 'what people call it'),
        ...REASON,
        ...YES,
      },
      answer: { schema: CHANGE },
      run: async ({ session, args, options }) => {
        session.dashboardKey();
        const body = {
          chain_family: options.family,
          address: args.address,
          reason: options.reason,
          ...defined({ chain_id: options.chainId, label: options.label }),
        };
        await session.confirm('May funds leave to this address?', {
          yes: options.yes,
          what: session.aside.fields(options, {
            address: () => ({ text: args.address, tone: 'strong' }),
            family: 'family',
            chain: () => options.chainId ?? 'every chain',
            label: 'label',
            reason: 'reason',
          }),
        });
        await printChange(session, await writeRow(session, ROWS, body));
      },
    }),
    changing('revoke', 'Stop funds from leaving to an address', 'Take it off the list?'),
    changing('reactivate', 'Put an address back; it cools anew', 'Put it back on the list?'),
  ],
};

function changing(name: 'revoke' | 'reactivate', about: string, question: string) {
  return command({
    name,
    about: `${about} (operator of the dashboard)`,
    args: ROW,
    options: { ...REASON, ...YES },
    answer: { schema: CHANGE },
    run: async ({ session, args, options }) => {
      session.dashboardKey();
      const rows = await everyRow(session, { include_inactive: 'true' });
      const row = rows.find(({ id }) => id === args.id);
      if (row === undefined)
        throw failure(`There is no row ${args.id}; see fundctl allowlist list --inactive.`);
      await session.confirm(question, { yes: options.yes, what: rowText(session.aside, row) });
      const body = { reason: options.reason };
      await printChange(session, await writeRow(session, `${ROWS}/${args.id}/${name}`, body));
    },
  });
}

async function printChange(session: Session, change: AllowedAddressChange): Promise<void> {
  await session.print(
    change,
    () => session.view.record([['outcome', change.outcome]]) + rowText(session.view, change),
  );
  for (const { message, addresses } of change.warnings)
    session.warn(
      session.aside.record([['look out', `${message} ${addresses.join(', ')}`]]).trimEnd(),
    );
}

function rowText(view: View, row: AllowedAddress): string {
  return view.fields(row, {
    row: 'id',
    address: 'address',
    family: 'chain_family',
    chain: () => row.chain_id ?? 'every chain',
    label: 'label',
    state: () => state(row.active ? 'active' : 'disabled'),
    'usable after': () => (row.usable_after === null ? 'at once' : when(row.usable_after)),
    reason: 'reason',
  });
}

function rowsText(session: Session, rows: readonly AllowedAddress[]): Promise<string> {
  return session.table(rows, {
    ADDRESS: 'address',
    FAMILY: 'chain_family',
    CHAIN: (row) => row.chain_id ?? 'every',
    LABEL: 'label',
    STATE: (row) => state(row.active ? 'active' : 'disabled'),
    'USABLE AFTER': { when: 'usable_after' },
    BY: 'created_by',
    AGE: { age: 'created_at' },
    ID: 'id',
  });
}
