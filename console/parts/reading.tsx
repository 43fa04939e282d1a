/** Shows the result of a read, its failure, or that it is still loading. */
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
