/** A secret text that is not revealed when it is printed, logged or serialized. */
import { inspect } from 'node:util';

export interface Secret {
  /** Returns the text itself, only for the call that needs it; never store the result. */
  reveal(): string;
}

const SHOWN = '[redacted]';

/** Hides the text in a closure, so that no property of the object holds it. */
export function secretOf(text: string): Secret {
  return Object.freeze({
    reveal: () => text,
    toString: () => SHOWN,
    toJSON: () => SHOWN,
    [inspect.custom]: () => SHOWN,
  });
}
