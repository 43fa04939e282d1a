/** Builds docs/errors.md from the table of all errors. */
import { ERROR_TABLE, type RetryMeaning } from '../../domain/errors.ts';

export const ERRORS_FILE = 'docs/errors.md';

const AGAIN: Readonly<Record<RetryMeaning, string>> = {
  never: 'no',
  after_change: 'after a change',
  safe: 'yes',
};

/** Returns the text of the page. */
export function errorsPage(): string {
  const rows = Object.entries(ERROR_TABLE).map(
    ([code, { status, retry, message }]) =>
      `| \`${code}\` | ${String(status)} | ${AGAIN[retry]} | ${message.replaceAll('|', '\\|')} |`,
  );
  return [
    '# Errors',
    '',
    '<!-- Written by `npm run docs:tables` from domain/errors.ts; not by hand. -->',
    '',
    'Everything that the API can answer instead of a success. *Again* says whether the same request',
    'may succeed later; one that creates something is repeated with its idempotency key. The form of',
    'the answer is in [api.md](api.md), and which operation gives which of them in the reference.',
    '',
    '| `error` | status | again | what callers read |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
