/** A button that says why it cannot be used. */
import { useId, type ReactNode } from 'react';

export interface ButtonProps {
  readonly children: ReactNode;
  readonly onClick: () => void;
  /** Why it cannot be used now; shown beside it and read with it. Null or absent: it can. */
  readonly disabledBecause?: string | null | undefined;
  readonly kind?: 'plain' | 'main' | 'danger';
  readonly label?: string | undefined;
}

/** It stays reachable by keyboard while it is disabled, so that its reason can be read. */
export function Button({
  children,
  onClick,
  disabledBecause = null,
  kind = 'plain',
  label,
}: ButtonProps) {
  const id = useId();
  const isDisabled = disabledBecause !== null;
  return (
    <span className="button">
      <button
        type="button"
        className={kind}
        aria-label={label}
        aria-disabled={isDisabled}
        aria-describedby={isDisabled ? id : undefined}
        onKeyDown={(event) => {
          // A key that is held was pressed once.
          if (event.repeat && kind !== 'plain') event.preventDefault();
        }}
        onClick={({ detail: clicks }) => {
          // The second click of a double click was not meant for what the first has put there.
          if (!isDisabled && (kind === 'plain' || clicks < 2)) onClick();
        }}
      >
        {children}
      </button>
      {isDisabled && (
        <span className="reason" id={id}>
          {disabledBecause}
        </span>
      )}
    </span>
  );
}
