/** Formats the API's times for people. */

/** Formats a time in UTC, to the second: `2026-11-24 21:58:39Z`. */
export function when(timestamp: string | null | undefined): string {
  return timestamp == null ? '' : `${timestamp.slice(0, 19).replace('T', ' ')}Z`;
}

/** Returns the current time of day in UTC, to the second: `21:58:39Z`. */
export function timeOfDay(): string {
  return `${new Date().toISOString().slice(11, 19)}Z`;
}

/** Returns how long ago a time was (`5m`), or how far in the future the time is (`in 5m`). */
export function age(timestamp: string | null | undefined, now = Date.now()): string {
  if (timestamp == null) return '';
  const seconds = Math.round((now - Date.parse(timestamp)) / 1000);
  const text = duration(Math.abs(seconds));
  return seconds < 0 ? `in ${text}` : text;
}

/** Formats seconds as text in one unit: s, m, h or d. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${String(Math.round(seconds))}s`;
  if (seconds < 7200) return `${String(Math.round(seconds / 60))}m`;
  if (seconds < 172_800) return `${String(Math.round(seconds / 3600))}h`;
  return `${String(Math.round(seconds / 86_400))}d`;
}
