/** Displays a change request's values in lists. */
import type { RowOf } from '../../clients/http/operations.ts';
import { ChangeLink } from './links.tsx';
import type { Column } from './table.tsx';
import { Text } from './text.tsx';
import { Time } from './values.tsx';

export type ChangeRow = RowOf<'listChangeRequests'>;

export const CHANGE_COLUMNS = {
  request: {
    title: 'Change request',
    cell: ({ change_request_id: id }) => <ChangeLink id={id} />,
  },
  kind: { title: 'Kind', cell: ({ kind }) => kind.replaceAll('_', ' ') },
  author: { title: 'Author', cell: ({ author }) => <Text>{author ?? 'unknown'}</Text> },
  call: {
    title: 'Call',
    cell: ({ method, path }) => (
      <code>
        <Text>{`${method} ${path}`}</Text>
      </code>
    ),
  },
  missing: { title: 'Missing', cell: ({ approvals }) => <Missing approvals={approvals} /> },
  created: { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
  expires: { title: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
} as const satisfies Readonly<Record<string, Column<ChangeRow>>>;

/** Shows how many approvals of which groups are missing. */
function Missing({ approvals: { required } }: Pick<ChangeRow, 'approvals'>) {
  const open = required.filter(({ missing }) => missing > 0);
  if (open.length === 0) return <span className="none">none</span>;
  return (
    <>
      {open.map(({ rule, group, missing }, nr) => (
        <div key={JSON.stringify([rule, group, nr])}>
          <Text>{group}</Text>: {missing}
        </div>
      ))}
    </>
  );
}
