/**
 * Balances of each venue and account: the total, the part held by movements and transfers, and the
 * free part; and what venues show of their withdrawals.
 */
import { useState } from 'react';
import type { QueryOf, ResultOf } from '../../../clients/http/operations.ts';
import { queryClient } from '../../data/query-client.ts';
import { callOf, useRead } from '../../data/reads.ts';
import { AnyValue } from '../../parts/all-fields.tsx';
import { Button } from '../../parts/button.tsx';
import { Filters, useFilters, type Filter } from '../../parts/filters.tsx';
import { Problem } from '../../parts/problem.tsx';
import { Reading } from '../../parts/reading.tsx';
import { SaveRows } from '../../parts/save-rows.tsx';
import { Table } from '../../parts/table.tsx';
import { Text } from '../../parts/text.tsx';
import { Amount, Time } from '../../parts/values.tsx';

const FILTERS: readonly Filter[] = [
  { name: 'venue_key', label: 'Venue' },
  { name: 'asset', label: 'Asset' },
  { name: 'account_type', label: 'Account' },
];

type Balance = ResultOf<'listBalances'>['balances'][number];
type Venue = ResultOf<'listBalances'>['venues'][number];

const HOLDERS: Readonly<Record<string, string>> = {
  capital_transfer_reservation: 'by capital transfers',
  movement_reservation: 'by movements',
  mixed_reservations: 'by movements and capital transfers',
};

const SAVED = [
  ...(['venue_key', 'account_type', 'asset', 'total', 'available', 'withdrawable'] as const),
  ...(['svc_pending_outflow', 'svc_effective_withdrawable', 'svc_effective_reason'] as const),
  ...(['fetched_at', 'stale'] as const),
];

export default function Balances() {
  const filters = useFilters(FILTERS);
  const read = useRead('listBalances', { query: filters as QueryOf<'listBalances'> });
  return (
    <>
      <h1>Balances</h1>
      <Filters filters={FILTERS} />
      <Reading of={read}>
        {({ balances, venues }) => (
          <>
            <div className="actions">
              <SaveRows name="balances" columns={SAVED} rows={balances} />
              <AskVenue venue={filters['venue_key'] ?? null} />
            </div>
            <Rows rows={balances} />
            <Withdrawals venues={venues} />
          </>
        )}
      </Reading>
    </>
  );
}

function Rows({ rows }: { rows: readonly Balance[] }) {
  return (
    <Table
      caption="Balances"
      rows={rows}
      keyOf={({ venue_key, account_type, asset }) => [venue_key, account_type, asset].join('\n')}
      none="No balance fits."
      columns={[
        { title: 'Venue', cell: ({ venue_key }) => <Text>{venue_key}</Text> },
        { title: 'Account', cell: ({ account_type }) => <Text>{account_type}</Text> },
        { title: 'Has', cell: ({ total, asset }) => <Amount amount={total} asset={asset} /> },
        { title: 'Available there', cell: ({ available }) => <Amount amount={available} /> },
        { title: 'Withdrawable', cell: ({ withdrawable }) => <Amount amount={withdrawable} /> },
        {
          title: 'Held',
          cell: ({ svc_pending_outflow, withdrawable, svc_effective_reason: by }) => (
            <>
              <Amount amount={svc_pending_outflow} />
              <HeldOf held={svc_pending_outflow} of={withdrawable} />
              {by !== null && <span className="small"> {HOLDERS[by] ?? <Text>{by}</Text>}</span>}
            </>
          ),
        },
        {
          title: 'Free',
          cell: ({ svc_effective_withdrawable, asset }) => (
            <Amount amount={svc_effective_withdrawable} asset={asset} />
          ),
        },
        {
          title: 'Seen',
          cell: ({ fetched_at, stale }) => (
            <>
              <Time at={fetched_at} />
              {stale && <strong className="warning"> too old to take from</strong>}
            </>
          ),
        },
        { title: 'Details of the venue', cell: ({ details }) => <AnyValue of={details} /> },
      ]}
    />
  );
}

/** Renders nothing where no venue shows anything of its withdrawals. */
function Withdrawals({ venues }: { venues: readonly Venue[] }) {
  const rows = venues.flatMap(({ venue_key, withdrawals }) =>
    withdrawals === null ? [] : [{ venue_key, ...withdrawals }],
  );
  if (rows.length === 0) return null;
  return (
    <Table
      caption="Withdrawals"
      rows={rows}
      keyOf={({ venue_key }) => venue_key}
      columns={[
        { title: 'Venue', cell: ({ venue_key }) => <Text>{venue_key}</Text> },
        {
          title: 'May still withdraw',
          cell: ({ quota }) => <Amount amount={quota?.left ?? null} asset={quota?.unit ?? null} />,
        },
        {
          title: 'Does not pay out',
          cell: ({ closed }) => (
            <ul>
              {closed.map(({ asset, network, opens_at }, index) => (
                <li key={index}>
                  <Text>{asset}</Text> on <Text>{network ?? 'every network'}</Text>
                  {opens_at !== null && (
                    <>
                      , expected to open <Time at={opens_at} />
                    </>
                  )}
                </li>
              ))}
            </ul>
          ),
        },
        { title: 'Seen', cell: ({ read_at }) => <Time at={read_at} /> },
      ]}
    />
  );
}

/** Draws the held share, rounded; the exact numbers are beside it. */
function HeldOf({ held, of }: { held: string | null; of: string | null }) {
  const share = Number(held) / Number(of);
  if (held === null || of === null || !Number.isFinite(share)) return null;
  return (
    <>
      {' '}
      <meter value={share} aria-label={`Held of what is withdrawable: ${held} of ${of}`} />
    </>
  );
}

/**
 * Reads the venue's balances now; the request is signed, since it makes the service call the venue.
 */
function AskVenue({ venue }: { venue: string | null }) {
  const [problem, setProblem] = useState<unknown>(null);
  const [isAsking, setAsking] = useState(false);
  const ask = async (venue_key: string): Promise<void> => {
    setAsking(true);
    setProblem(null);
    try {
      await callOf('listBalances', { query: { venue_key, fresh: true } });
      await queryClient.invalidateQueries({ queryKey: ['listBalances'] });
    } catch (error) {
      setProblem(error);
    } finally {
      setAsking(false);
    }
  };
  return (
    <div>
      <Button
        disabledBecause={
          venue === null ? 'Write a venue in the filter first' : isAsking ? 'Asking…' : null
        }
        onClick={() => venue !== null && void ask(venue)}
      >
        Ask the venue now
      </Button>
      <Problem error={problem} />
    </div>
  );
}
