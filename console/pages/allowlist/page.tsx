/** The allowlist: addresses that may be paid, since when, and who added them. */
import { useMemo } from 'react';
import type { AllowedAddress } from '../../../api/dashboard/schema.ts';
import { useAllowlist } from '../../data/allowlist.ts';
import { shortAddress } from '../../parts/format.ts';
import { Filters, useFilters, type Filter } from '../../parts/filters.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { useNow } from '../../parts/use-now.ts';
import { Address, State, Time } from '../../parts/values.tsx';

const FILTERS: readonly Filter[] = [
  { name: 'chain_family', label: 'Kind', options: ['evm', 'cex'] },
  { name: 'chain_id', label: 'Chain' },
  { name: 'include_inactive', label: 'With revoked', options: ['true'] },
];

export default function Allowlist() {
  const { rows, query } = useAllowlist(useFilters(FILTERS));
  const lookAlikes = useMemo(() => lookAlikesOf(rows), [rows]);
  return (
    <>
      <h1>Allowlist</h1>
      <Filters filters={FILTERS} />
      <Table
        caption="Allowed addresses"
        rows={rows}
        keyOf={({ id }) => id}
        query={query}
        none="No address is allowed."
        columns={[
          {
            title: 'Address',
            cell: ({ address, label }) => (
              <Address
                address={address}
                label={label}
                lookAlike={lookAlikes.get(address) ?? null}
              />
            ),
          },
          {
            title: 'Chain',
            cell: ({ chain_family, chain_id }) =>
              `${chain_family} ${chain_id === null ? 'all' : String(chain_id)}`,
          },
          { title: 'Stands', cell: (row) => <Standing row={row} /> },
          { title: 'Listed by', cell: ({ created_by }) => <Text>{created_by}</Text> },
          { title: 'Listed', cell: ({ created_at }) => <Time at={created_at} /> },
          { title: 'Why', cell: ({ reason }) => <Text>{reason}</Text> },
        ]}
      />
    </>
  );
}

function Standing({
  row: { active, usable_after, revoked_at, revoked_by },
}: {
  row: AllowedAddress;
}) {
  const now = useNow();
  if (!active)
    return (
      <>
        <State>REVOKED</State> <Text>{revoked_by ?? ''}</Text> <Time at={revoked_at} />
      </>
    );
  if (usable_after !== null && Date.parse(usable_after) > now)
    return (
      <>
        <State>COOLING</State> until <Time at={usable_after} />
      </>
    );
  return <State>ACTIVE</State>;
}

/** Maps an address to another one of the list that looks the same when shortened. */
export function lookAlikesOf(rows: readonly AllowedAddress[]): ReadonlyMap<string, string> {
  const byEnds = new Map<string, string[]>();
  for (const { address } of rows) {
    const ends = shortAddress(address).toLowerCase();
    const same = byEnds.get(ends);
    if (same === undefined) byEnds.set(ends, [address]);
    else same.push(address);
  }
  const found = new Map<string, string>();
  for (const same of byEnds.values()) {
    const [first = ''] = same;
    const second = same.find((each) => each.toLowerCase() !== first.toLowerCase());
    if (second === undefined) continue;
    for (const each of same)
      found.set(each, each.toLowerCase() === first.toLowerCase() ? second : first);
  }
  return found;
}
