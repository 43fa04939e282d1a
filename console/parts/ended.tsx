/** Shows that the session has ended and offers to open another; typed and chosen values stay. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { resumeSession, useSession } from '../data/session.ts';
import { Button } from './button.tsx';
import { Problem } from './problem.tsx';

/**
 * Renders nothing while the session is open. Sheets render this too, since an open sheet makes the
 * page behind it unreachable.
 */
export function Ended() {
  const session = useSession();
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  if (session.kind !== 'open' || !session.ended) return null;
  const resume = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      await resumeSession();
      await client.invalidateQueries();
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div role="alert" className="notice">
      <p>
        Your session has ended, so nothing new is read. What is on this page stays as it is.{' '}
        <Button
          kind="main"
          onClick={() => void resume()}
          disabledBecause={isBusy ? 'Opening…' : null}
        >
          Continue as {session.key.operator}
        </Button>
      </p>
      <Problem error={problem} />
    </div>
  );
}
