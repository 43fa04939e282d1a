/** Displays a movement's values in lists. */
import { Link } from '@tanstack/react-router';
import type { RowOf } from '../../clients/http/operations.ts';
import type { Column } from './table.tsx';
import { Text } from './text.tsx';
import { Amount, Id, Reason, State, Time } from './values.tsx';

export type MovementRow = RowOf<'listMovements'>;

/** Shows the most that a plan can move of each asset; `amount` null means unbounded. */
export function Outflow({
  entries,
}: {
  entries: readonly { readonly asset: string; readonly amount: string | null }[];
}) {
  if (entries.length === 0) return <span className="none">moves nothing</span>;
  return (
    <>
      {entries.map(({ asset, amount }) => (
        <div key={asset}>
          {amount === null ? (
            <>
              <strong>unbounded</strong> <Text>{asset}</Text>
            </>
          ) : (
            <Amount amount={amount} asset={asset} />
          )}
        </div>
      ))}
    </>
  );
}

export const MOVEMENT_COLUMNS: readonly Column<MovementRow>[] = [
  { title: 'Movement', cell: ({ movement_id }) => <MovementLink id={movement_id} /> },
  {
    title: 'Template',
    cell: ({ template_key, template_version }) => (
      <>
        <Text>{template_key}</Text> version {template_version}
      </>
    ),
  },
  { title: 'State', cell: ({ request_state }) => <State>{request_state}</State> },
  { title: 'Moves at most', cell: ({ outflow }) => <Outflow entries={outflow} /> },
  {
    title: 'Needs a person',
    cell: ({ attention_reason, error_code }) => (
      <Reason code={error_code}>
        {attention_reason === null ? null : attention_reason.replaceAll('_', ' ')}
      </Reason>
    ),
  },
  { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
];

export function MovementLink({ id }: { id: string }) {
  return (
    <Link to={`/movements/${id}` as never}>
      <Id>{id}</Id>
    </Link>
  );
}
