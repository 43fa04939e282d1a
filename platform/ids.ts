/** Ids that sort by the time they were made. */
import { v7 } from 'uuid';

/** A new UUIDv7. */
export function newId(): string {
  return v7();
}

/** When an id of {@link newId} was made, in milliseconds since 1970. */
export function idTime(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Whether `text` is a UUID as Postgres and the wire contract take it. */
export function isId(text: string): boolean {
  return UUID.test(text);
}
