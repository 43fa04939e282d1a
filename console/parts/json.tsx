/** Shows a value of another party as JSON, escaped like any untrusted text. */
import { Text } from './text.tsx';

const MOST = 2_000;

export function Json({ value }: { value: unknown }) {
  return (
    <code className="json">
      <Text most={MOST}>{JSON.stringify(value, null, 2)}</Text>
    </code>
  );
}

/** Returns whether a value is null, undefined or without any member. */
export function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || Object.keys(value).length === 0;
}
