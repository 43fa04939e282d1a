/** An answer that is read whole: its failure, that it is being read, or what it says. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Problem } from './problem.tsx';

export function Reading<Answer>({
  of,
  children,
}: {
  of: UseQueryResult<Answer>;
  children: (answer: Answer) => ReactNode;
}) {
  return (
    <>
      {of.isError && <Problem error={of.error} />}
      {of.data !== undefined
        ? children(of.data)
        : !of.isError && of.isEnabled && <p role="status">Reading…</p>}
    </>
  );
}
