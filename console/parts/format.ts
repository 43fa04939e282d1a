/** How values read: pure, so that tests need no page. */

/** `1234567.890` becomes `1,234,567.890`: no digit is added, dropped or rounded. */
export function groupedAmount(amount: string): string {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(\.\d+)?$/.exec(amount) ?? [];
  return whole === '' ? amount : sign + whole.replace(/\B(?=(\d{3})+$)/g, ',') + rest;
}

/** Both ends of an address, with what is between them counted out. */
export function shortAddress(address: string): string {
  return address.length <= 20 ? address : `${address.slice(0, 8)}…${address.slice(-6)}`;
}

/** By zone; '' is this browser's. To make one takes longer than all else that draws a row. */
const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** `26 Nov 2026, 17:05:10 GMT+1`: in this browser's zone, which is named. */
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

/** `3 min`, `2 d`: one unit, rounded down. */
export function durationInWords(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [size, unit] = STEPS.find(([each]) => whole >= each) ?? [1, 's'];
  return `${String(Math.floor(whole / size))} ${unit}`;
}

/** `3 min ago`, `in 2 h`, by this machine's clock. */
export function distanceInWords(iso: string, now: number): string {
  const seconds = (now - new Date(iso).getTime()) / 1000;
  if (Number.isNaN(seconds)) return '';
  return seconds >= 0
    ? `${durationInWords(seconds)} ago`
    : `in ${durationInWords(Math.ceil(-seconds))}`;
}

/** `WAITING_MANUAL_ACTION` becomes `Waiting manual action`. */
export function stateInWords(state: string): string {
  const words = state.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
