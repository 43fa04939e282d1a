/** Filters of a list; their values are in the page's URL. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useId } from 'react';

export interface Filter {
  /** Name of the query parameter in the service's API. */
  readonly name: string;
  readonly label: string;
  /** Allowed values; absent for free text. */
  readonly options?: readonly string[];
}

/** Returns the values of those filters that the URL sets. */
export function useFilters(filters: readonly Filter[]): Readonly<Record<string, string>> {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const pairs = filters
    .map(({ name }) => [name, search[name]] as const)
    .filter((pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== '');
  return Object.fromEntries(pairs);
}

export function Filters({ filters }: { filters: readonly Filter[] }) {
  const id = useId();
  const navigate = useNavigate();
  const set = useFilters(filters);
  const change = (name: string, value: string): void => {
    const next: Readonly<Record<string, string>> = { ...set, [name]: value };
    void navigate({ to: '.', search: next as never });
  };
  return (
    <search className="filters">
      {filters.map(({ name, label, options }) => (
        <label key={name} htmlFor={`${id}${name}`}>
          {label}
          {options === undefined ? (
            <input
              id={`${id}${name}`}
              key={set[name] ?? ''}
              defaultValue={set[name] ?? ''}
              onBlur={({ target }) => {
                if (target.value !== (set[name] ?? '')) change(name, target.value.trim());
              }}
              onKeyDown={({ key, currentTarget }) => {
                if (key === 'Enter') change(name, currentTarget.value.trim());
              }}
            />
          ) : (
            <select
              id={`${id}${name}`}
              value={set[name] ?? ''}
              onChange={({ target }) => change(name, target.value)}
            >
              <option value="">any</option>
              {options.map((option) => (
                <option key={option}>{option}</option>
              ))}
            </select>
          )}
        </label>
      ))}
    </search>
  );
}
