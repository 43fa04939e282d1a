/** Reads a number of the command line. */
import { InvalidArgumentError } from 'commander';

/** Returns a whole number above 0, of at most six digits; throws for any other text. */
export function whole(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new InvalidArgumentError('must be a whole number above 0');
  return Number(text);
}
