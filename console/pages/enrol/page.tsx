/** Enrols this browser with the code of an enrolment link. */
import { useState } from 'react';
import { createEnrolment, enrolmentCode } from '../../data/enrol.ts';
import { Button } from '../../parts/button.tsx';
import { Problem } from '../../parts/problem.tsx';

export function Enrol({ onDone }: { onDone: () => void }) {
  const [enrolment] = useState(() => createEnrolment(enrolmentCode ?? ''));
  const [problem, setProblem] = useState<unknown>(null);
  const [isSending, setSending] = useState(false);
  const enrol = async (): Promise<void> => {
    setSending(true);
    setProblem(null);
    try {
      await enrolment.handOver();
      onDone();
    } catch (error) {
      setProblem(error);
      setSending(false);
    }
  };
  return (
    <main>
      <h1>Enrol this browser</h1>
      <p>
        It makes a key that never leaves it again, and hands the key to the service once. Do this in
        the browser that you will work with, on your own account of this machine.
      </p>
      <Problem error={problem} />
      <Button
        kind="main"
        onClick={() => void enrol()}
        disabledBecause={isSending ? 'Handing over…' : null}
      >
        {problem === null ? 'Make a key' : 'Hand it over again'}
      </Button>{' '}
      <Button onClick={onDone}>Not now</Button>
    </main>
  );
}
