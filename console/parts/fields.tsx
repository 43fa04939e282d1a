/** A list of names and values, without the fields that have no value. */
import { Fragment, type ReactNode } from 'react';

export interface Field {
  readonly name: string;
  readonly value: ReactNode;
}

export function Fields({ of }: { of: readonly (Field | null)[] }) {
  return (
    <dl className="fields">
      {of
        .filter((field) => field !== null)
        .map(({ name, value }) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
    </dl>
  );
}

/** Returns a field, or null when it has no value. */
export function field(name: string, value: ReactNode | null | undefined): Field | null {
  return value === null || value === undefined || value === '' ? null : { name, value };
}
