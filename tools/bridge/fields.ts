/** Parses fields of a bridge registry row, by the API's rules (api/bridges/schema.ts). */
import { InvalidArgumentError } from 'commander';
import { ENDPOINT_IDENTITY } from '../../domain/bridges/registry.ts';
import { readDecimal } from '../../domain/money.ts';

const MOST = 2_147_483_647;

function must(holds: boolean, message: string): void {
  if (!holds) throw new InvalidArgumentError(`It must ${message}.`);
}

/**
 * Returns a parser for the name of a chain or the code of an asset, which must fit in one segment
 * of a URL path.
 */
export function name(most: number): (value: string) => string {
  return (value) => {
    must(
      value.length <= most && /^(?!\.{1,2}$)[!-~]+$/.test(value) && !/[%/\\#?]/.test(value),
      `have 1 to ${String(most)} printable ASCII characters without spaces, %, /, \\, # and ?`,
    );
    return value;
  };
}

export function asset(value: string): string {
  return name(32)(value).toUpperCase();
}

export function text(most: number): (value: string) => string {
  return (value) => {
    must(
      value.trim() !== '' && value.length <= most && !value.includes('\0'),
      `have 1 to ${String(most)} characters`,
    );
    return value;
  };
}

export function seconds(value: string): number {
  must(/^(0|[1-9][0-9]{0,9})$/.test(value) && Number(value) <= MOST, 'be whole seconds');
  return Number(value);
}

export function identity(value: string): string {
  must(ENDPOINT_IDENTITY.test(value), 'be <eid>:<address>, as 30184:0x…');
  return value;
}

export function amount(value: string): string {
  const decimal = readDecimal(value);
  must(decimal !== null, 'be a decimal in plain notation');
  return decimal ?? value;
}
