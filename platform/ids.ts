/** Ids that sort by creation time. */
import { v7 } from 'uuid';

/** Returns a new UUIDv7. */
export function newId(): string {
  return v7();
}

/** Returns the creation time of an id of {@link newId}, in milliseconds since 1970. */
export function idTime(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Returns whether `text` is a UUID that Postgres and the API accept. */
export function isId(text: string): boolean {
  return UUID.test(text);
}
