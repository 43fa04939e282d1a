/** What a sheet says while it reads what became of a write whose answer was lost. */
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Problem } from './problem.tsx';

export interface Looking {
  readonly kind: 'looking';
  /** Why there is no answer. */
  readonly error: unknown;
  /** Why the present state could not be read either; null while it is read. */
  readonly failed: unknown;
}

export function LostAnswer({
  phase: { error, failed },
  again,
  children,
}: {
  phase: Looking;
  again: () => void;
  children: ReactNode;
}) {
  return (
    <div role="status" className="notice">
      <Problem error={error} />
      <p>{children}</p>
      <Problem error={failed} />
      <Button onClick={again} disabledBecause={failed === null ? 'Looking.' : null}>
        Look again
      </Button>
    </div>
  );
}
