/** Shows all fields of an API result, also those that this release does not know. */
import { field, Fields } from './fields.tsx';
import { stateInWords } from './format.ts';
import { Text } from './text.tsx';
import { Time } from './values.tsx';
import { visibleText } from './visible.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const DEEPEST = 8;

/** Shows every field of an object. `without`: fields that the page shows elsewhere. */
export function AllFields({ of, without = [] }: { of: object; without?: readonly string[] }) {
  return (
    <Fields
      of={Object.entries(of)
        .filter(([name]) => !without.includes(name))
        .map(([name, value]) => field(stateInWords(visibleText(name)), <AnyValue of={value} />))}
    />
  );
}

export function AnyValue({ of, depth = 0 }: { of: unknown; depth?: number }) {
  if (of === null || of === undefined) return <span className="none">none</span>;
  if (typeof of === 'boolean') return of ? 'yes' : 'no';
  if (typeof of === 'string') return TIME.test(of) ? <Time at={of} /> : <Text>{of}</Text>;
  if (typeof of !== 'object') return <Text>{JSON.stringify(of)}</Text>;
  const entries = Array.isArray(of)
    ? of.map((each: unknown): readonly [string | null, unknown] => [null, each])
    : Object.entries(of);
  if (entries.length === 0) return <span className="none">none</span>;
  if (depth >= DEEPEST) return <Text>{JSON.stringify(of)}</Text>;
  return (
    <ul className="values">
      {entries.map(([name, value], index) => (
        <li key={index}>
          {name !== null && (
            <>
              <Text>{name}</Text>:{' '}
            </>
          )}
          <AnyValue of={value} depth={depth + 1} />
        </li>
      ))}
    </ul>
  );
}
