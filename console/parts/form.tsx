/** Renders the entries of a form as input fields. */
import { useId } from 'react';
import { idOf, type Entry, type Values } from './form-model.ts';
import { Text } from './text.tsx';

export interface FormProps {
  readonly entries: readonly Entry[];
  readonly values: Values;
  readonly onChange: (values: Values) => void;
}

export function FormEntries({ entries, values, onChange }: FormProps) {
  return (
    <>
      {entries.map((entry) => (
        <OneEntry
          key={idOf(entry)}
          entry={entry}
          value={values[idOf(entry)] ?? ''}
          onChange={(value) => onChange({ ...values, [idOf(entry)]: value })}
        />
      ))}
    </>
  );
}

const LINES = new Set(['long', 'json', 'pairs']);

function OneEntry({
  entry: { label, kind, empty, options, hint },
  value,
  onChange,
}: {
  entry: Entry;
  value: string;
  onChange: (value: string) => void;
}) {
  const id = useId();
  const choices = kind === 'boolean' ? ['true', 'false'] : options;
  const common = {
    id,
    value,
    required: empty === 'required',
    'aria-describedby': hint === undefined ? undefined : `${id}hint`,
  };
  return (
    <div className="entry">
      <label htmlFor={id}>
        {label}
        {empty !== 'required' && ' (may be left out)'}
      </label>
      {choices !== undefined ? (
        <select {...common} onChange={({ target }) => onChange(target.value)}>
          <option value="">{empty === 'required' ? 'choose' : 'none'}</option>
          {choices.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      ) : LINES.has(kind) ? (
        <textarea {...common} rows={3} onChange={({ target }) => onChange(target.value)} />
      ) : (
        <input
          {...common}
          autoComplete="off"
          spellCheck={false}
          inputMode={kind === 'integer' ? 'numeric' : kind === 'decimal' ? 'decimal' : 'text'}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
      {hint !== undefined && (
        <span className="small" id={`${id}hint`}>
          <Text>{hint}</Text>
        </span>
      )}
    </div>
  );
}
