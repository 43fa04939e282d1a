/** Times of the API as people read them. */

/** A time to the second with its zone: `2026-11-24 21:58:39Z`. */
export function when(timestamp: string | null | undefined): string {
  return timestamp == null ? '' : `${timestamp.slice(0, 19).replace('T', ' ')}Z`;
}

/** The time of day now, to the second with its zone: `21:58:39Z`. */
export function timeOfDay(): string {
  return `${new Date().toISOString().slice(11, 19)}Z`;
}

/** How long ago, or how long from now, in its largest unit. */
export function age(timestamp: string | null | undefined, now = Date.now()): string {
  if (timestamp == null) return '';
  const seconds = Math.round((now - Date.parse(timestamp)) / 1000);
  const text = duration(Math.abs(seconds));
  return seconds < 0 ? `in ${text}` : text;
}

/** Seconds in their largest unit. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${String(Math.round(seconds))}s`;
  if (seconds < 7200) return `${String(Math.round(seconds / 60))}m`;
  if (seconds < 172_800) return `${String(Math.round(seconds / 3600))}h`;
  return `${String(Math.round(seconds / 86_400))}d`;
}
