/** Displays times, amounts, addresses, ids, states and reasons the same way on every page. */
import { useState } from 'react';
import {
  distanceInWords,
  groupedAmount,
  shortAddress,
  stateInWords,
  timeInWords,
} from './format.ts';
import { Text } from './text.tsx';
import { useNow } from './use-now.ts';

/** Shows a time in this browser's zone, with the zone's name and the distance from now. */
export function Time({ at, distance = true }: { at: string | null; distance?: boolean }) {
  const now = useNow();
  if (at === null) return <span className="none">never</span>;
  return (
    <time dateTime={at} title={at}>
      {timeInWords(at)}
      {distance && <span className="distance"> ({distanceInWords(at, now)})</span>}
    </time>
  );
}

/** Shows every digit of an amount, grouped by thousands, with its asset. Null is unknown. */
export function Amount({ amount, asset }: { amount: string | null; asset?: string | null }) {
  if (amount === null) return <span className="none">unknown</span>;
  return (
    <span className="amount">
      <bdi>{groupedAmount(amount)}</bdi>
      {asset != null && (
        <>
          {' '}
          <Text>{asset}</Text>
        </>
      )}
    </span>
  );
}

/**
 * Shows the two ends of an address, and all of it on demand. `lookAlike`: another address with the
 * same ends, or null.
 */
export function Address({
  address,
  label = null,
  lookAlike = null,
  whole = false,
}: {
  address: string;
  label?: string | null;
  lookAlike?: string | null;
  whole?: boolean;
}) {
  const [isWhole, setWhole] = useState(whole);
  const short = shortAddress(address);
  return (
    <span className="address">
      {label !== null && (
        <>
          <Text>{label}</Text>{' '}
        </>
      )}
      <code>{isWhole ? <Text most={100}>{address}</Text> : <Text>{short}</Text>}</code>
      {short !== address && !whole && (
        <button
          type="button"
          className="link"
          aria-expanded={isWhole}
          aria-label={`Whole address ${short}`}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? 'less' : 'whole'}
        </button>
      )}
      {lookAlike !== null && (
        <strong className="look-alike">
          {' '}
          Looks like {shortAddress(lookAlike)}, and is another: compare every character
        </strong>
      )}
    </span>
  );
}

/** Shows a whole id, so that it can be copied and searched. */
export function Id({ children }: { children: string }) {
  return (
    <code className="id">
      <Text>{children}</Text>
    </code>
  );
}

/** Shows a state as a word; its colour adds no information. */
export function State({ children }: { children: string }) {
  return (
    <span className="state" data-state={children}>
      {stateInWords(children)}
    </span>
  );
}

/** Shows a reason: the service's code, and its sentence when there is one. */
export function Reason({ code, children }: { code?: string | null; children?: string | null }) {
  if (code == null && children == null) return null;
  return (
    <span className="reason">
      {children != null && <Text>{children}</Text>} {code != null && <code>{code}</code>}
    </span>
  );
}
