/** A value of others as JSON, as hostile as any text. */
import { Text } from './text.tsx';

const MOST = 2_000;

export function Json({ value }: { value: unknown }) {
  return (
    <code className="json">
      <Text most={MOST}>{JSON.stringify(value, null, 2)}</Text>
    </code>
  );
}

/** A record of strings, a line each; nothing where it is empty. */
export function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || Object.keys(value).length === 0;
}
