/** Filters of a list; their values are in the page's URL. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useId } from 'react';

export interface Filter {
  /** Name of the query parameter in the service's API. */
  readonly name: string;
  readonly label: string;
  /** Allowed values; absent for free text. */
  readonly options?: readonly string[];
  /** Value while the URL sets none; only with `options`. */
  readonly initial?: string;
}

/** In the URL: the filter is off although it has an initial value. */
const ANY = 'any';

type Values = Readonly<Record<string, string>>;

/** Returns the values of those filters that the URL sets, or that have an initial value. */
export function useFilters(filters: readonly Filter[]): Values {
  return filtersIn(useSearch({ strict: false }), filters);
}

/** Like {@link useFilters}, for the parameters of a URL. */
export function filtersIn(
  search: Readonly<Record<string, unknown>>,
  filters: readonly Filter[],
): Values {
  const off = filters.filter(({ name, initial }) => initial !== undefined && search[name] === ANY);
  return shownIn(
    search,
    filters.filter((each) => !off.includes(each)),
  );
}

/** Returns what the fields of the filters show. */
function shownIn(search: Readonly<Record<string, unknown>>, filters: readonly Filter[]): Values {
  const pairs = filters
    .map(({ name, initial }) => {
      const value = search[name];
      return [name, value === undefined || value === '' ? initial : value] as const;
    })
    .filter((pair): pair is [string, string] => typeof pair[1] === 'string' && pair[1] !== '');
  return Object.fromEntries(pairs);
}

export function Filters({ filters }: { filters: readonly Filter[] }) {
  const id = useId();
  const navigate = useNavigate();
  const set = shownIn(useSearch({ strict: false }), filters);
  const change = (name: string, value: string): void => {
    const next: Values = { ...set, [name]: value };
    void navigate({ to: '.', search: next as never });
  };
  return (
    <search className="filters">
      {filters.map(({ name, label, options, initial }) => (
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
              <option value={initial === undefined ? '' : ANY}>any</option>
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
