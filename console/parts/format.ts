/** How values are displayed. Pure functions, so that tests need no page. */

/**
 * Returns an amount with grouped thousands: `1234567.890` becomes `1,234,567.890`. No digit is
 * added, dropped or rounded.
 */
export function groupedAmount(amount: string): string {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(amount) ?? [];
  return whole === '' ? amount : sign + whole.replace(/\B(?=(\d{3})+$)/g, ',') + rest;
}

/**
 * Returns the first 8 and last 6 characters of an address or id; one of at most 20 characters stays
 * whole.
 */
export function shortAddress(address: string): string {
  return address.length <= 20 ? address : `${address.slice(0, 8)}…${address.slice(-6)}`;
}

/**
 * Formats by time zone; '' is this browser's zone. Kept, since to create a format takes longer than
 * the rest of a table row.
 */
const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** Returns a time such as `26 Nov 2026, 17:05:10 GMT+1`, in this browser's zone or in `zone`. */
export function timeInWords(iso: string, zone = ''): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  let format = FORMATS.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', {
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'short',
      hourCycle: 'h23',
      ...(zone === '' ? {} : { timeZone: zone }),
    });
    FORMATS.set(zone, format);
  }
  return format.format(at);
}

const STEPS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const;

/** Returns a duration such as `3 min` or `2 d`: one unit, rounded down. */
export function durationInWords(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [size, unit] = STEPS.find(([each]) => whole >= each) ?? [1, 's'];
  return `${String(Math.floor(whole / size))} ${unit}`;
}

/**
 * Returns the distance from `now`, such as `3 min ago` or `in 2 h`. `now` is in milliseconds, by
 * this machine's clock.
 */
export function distanceInWords(iso: string, now: number): string {
  const seconds = (now - new Date(iso).getTime()) / 1000;
  if (Number.isNaN(seconds)) return '';
  return seconds >= 0
    ? `${durationInWords(seconds)} ago`
    : `in ${durationInWords(Math.ceil(-seconds))}`;
}

/** Returns a state for display: `WAITING_MANUAL_ACTION` becomes `Waiting manual action`. */
export function stateInWords(state: string): string {
  const words = state.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
