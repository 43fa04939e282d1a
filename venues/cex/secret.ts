/** A secret text that printing, logging and serialising do not reveal. */
import { inspect } from 'node:util';

export interface Secret {
  /** The text itself: for the call that needs it, never to be stored. */
  reveal(): string;
}

const SHOWN = '[redacted]';

/** Keeps the text in a closure, so that no property of the object holds it. */
export function secretOf(text: string): Secret {
  return Object.freeze({
    reveal: () => text,
    toString: () => SHOWN,
    toJSON: () => SHOWN,
    [inspect.custom]: () => SHOWN,
  });
}
