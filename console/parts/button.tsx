/** A button that shows why it is disabled. */
import { useId, type ReactNode } from 'react';

export interface ButtonProps {
  readonly children: ReactNode;
  readonly onClick: () => void;
  /**
   * Why the button is disabled: shown beside it, and read with it by screen readers. Null or
   * absent: the button is enabled.
   */
  readonly disabledBecause?: string | null | undefined;
  readonly kind?: 'plain' | 'main' | 'danger';
  readonly label?: string | undefined;
}

/**
 * Renders a button that the keyboard reaches also while it is disabled, so that its reason can be
 * read.
 */
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
          // A held key counts as one press.
          if (event.repeat && kind !== 'plain') event.preventDefault();
        }}
        onClick={({ detail: clicks }) => {
          // The first click may have put another button here; the second click of a double click
          // was not meant for that button.
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
