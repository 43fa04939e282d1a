/**
 * Shows the session's state until a session is open. An ended session is reported above the page.
 */
import { Fragment, useEffect, useState, type ReactNode } from 'react';
import { Enrol } from './pages/enrol/page.tsx';
import { Button } from './parts/button.tsx';
import { Ended } from './parts/ended.tsx';
import { Problem } from './parts/problem.tsx';
import { askTime, useWrongClock, wrongClock } from './data/clock.ts';
import { enrolmentCode } from './data/enrol.ts';
import { forgetThisBrowser, startSession, useSession, type SessionState } from './data/session.ts';
import type { KeptKey } from './data/keys.ts';
import { followChanges } from './data/stream.ts';

/**
 * Time between checks of a state that may change by itself, such as a key that waits for
 * confirmation.
 */
const LOOK_MS = 3_000;

const startQuietly = () => startSession(false);

/** Calls `look` repeatedly while `isOn`. `look` must stay the same function between renders. */
function useLookAgain(look: () => Promise<unknown>, isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => void look(), LOOK_MS);
    return () => clearInterval(timer);
  }, [look, isOn]);
}

export function Gate({ children }: { children: ReactNode }) {
  const [isEnrolling, setEnrolling] = useState(enrolmentCode !== null);
  const session = useSession();
  const isOpen = session.kind === 'open';
  useEffect(() => {
    if (!isEnrolling) void startSession();
  }, [isEnrolling]);
  useEffect(() => {
    if (!isOpen) return undefined;
    const stop = new AbortController();
    followChanges(stop.signal);
    return () => stop.abort();
  }, [isOpen]);
  useLookAgain(startSession, session.kind === 'unreachable');
  if (isEnrolling) return <Enrol onDone={() => setEnrolling(false)} />;
  if (!isOpen)
    return (
      <main>
        <Closed session={session} />
      </main>
    );
  return (
    <>
      <Ended />
      <Clock />
      {/* A change of operator discards everything that the former one typed. */}
      <Fragment key={session.key.operator}>{children}</Fragment>
    </>
  );
}

/** Shows that nothing can be signed because of the clock; disappears once the clock is set. */
function Clock() {
  const why = useWrongClock();
  useLookAgain(askTime, why !== null);
  return why === null ? null : (
    <div role="alert" className="notice">
      <p>{why}</p>
    </div>
  );
}

function Closed({ session }: { session: Exclude<SessionState, { kind: 'open' }> }) {
  const again = (words: string) => (
    <Button kind="main" onClick={() => void startSession()}>
      {words}
    </Button>
  );
  switch (session.kind) {
    case 'loading':
      return <p role="status">Opening…</p>;
    case 'no_key':
      return (
        <>
          <h1>This browser has no key</h1>
          <p>
            Ask an administrator for an enrolment link: <code>fundadmin dashboard enrol</code> makes
            one. It works once, for 15 minutes. Open it in the browser that you will use.
          </p>
        </>
      );
    case 'pending':
      return <Pending kept={session.key} />;
    case 'key_refused':
      return (
        <>
          <h1>The service does not take this browser’s key</h1>
          <p>
            The key of <strong>{session.key.operator}</strong> has ended, or never counted. Ask an
            administrator for a new link: <code>fundadmin dashboard enrol --replace</code>.
          </p>
          <p className="actions">
            {again('Try again')}
            <Button onClick={() => void forgetThisBrowser()}>Remove the key from here</Button>
          </p>
        </>
      );
    case 'clock':
      return (
        <>
          <h1>This machine’s clock is wrong</h1>
          <p>{wrongClock(session.seconds)}</p>
          {again('Try again')}
        </>
      );
    case 'other_operator':
      return (
        <>
          <h1>This browser has the session of someone else</h1>
          <p>
            Its key is of <strong>{session.operator}</strong>, the session of{' '}
            <strong>{session.other}</strong>. Nothing is shown until both are the same.
          </p>
          {again('Open a session of your own')}
        </>
      );
    case 'unreachable':
      return (
        <>
          <h1>The service does not answer</h1>
          <Problem error={session.error} />
          {again('Try again')}
        </>
      );
    case 'signed_out':
      return (
        <>
          <h1>You are signed out</h1>
          <p>The key stays in this browser.</p>
          <p className="actions">
            {again(`Sign in as ${session.key.operator}`)}
            <Button onClick={() => void forgetThisBrowser()}>Remove the key from here</Button>
          </p>
        </>
      );
  }
}

/** Waits until an administrator has compared the fingerprint and confirmed the key. */
function Pending({ kept: { operator, fingerprint } }: { kept: KeptKey }) {
  useLookAgain(startQuietly, true);
  return (
    <>
      <h1>The key waits for its confirmation</h1>
      <p>
        Operator <strong>{operator}</strong>, fingerprint{' '}
        <strong className="fingerprint">{fingerprint}</strong>
      </p>
      <p>
        Read the fingerprint to an administrator over a way that you both trust. They confirm it:{' '}
        <code>{`fundadmin dashboard confirm --operator ${operator} --fingerprint ${fingerprint ?? ''}`}</code>
      </p>
      <p role="status">This page goes on by itself once it is confirmed.</p>
    </>
  );
}
