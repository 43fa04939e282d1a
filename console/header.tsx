/** Header of every page: links, search, cutover mode, freshness of the data, and the operator. */
import { Link, useNavigate, useRouterState, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useRead } from './data/reads.ts';
import { signOut, useSession } from './data/session.ts';
import { liveness } from './data/stream.ts';
import { useStore } from './data/store.ts';
import { useOldestFailure } from './data/freshness.ts';
import { Button } from './parts/button.tsx';
import { timeInWords } from './parts/format.ts';
import { Problem } from './parts/problem.tsx';
import { Sheet } from './parts/sheet.tsx';
import { Text } from './parts/text.tsx';
import { PAGES } from './routes.ts';
import { SEARCH_ID, SHORTCUTS, useShortcuts } from './shortcuts.ts';

export function Header() {
  const session = useSession();
  const [isHelpOpen, setHelpOpen] = useState(false);
  useShortcuts(() => setHelpOpen(true));
  const operator = session.kind === 'open' ? session.key.operator : '';
  return (
    <header className="header">
      <nav aria-label="Pages">
        {PAGES.filter(({ navigation }) => navigation !== null).map(({ path, navigation }) => (
          <Link key={path} to={path} activeOptions={{ exact: path === '/', includeSearch: false }}>
            {navigation}
          </Link>
        ))}
      </nav>
      <SearchBox />
      <Cutover />
      <Live />
      <span className="who">
        <Text>{operator}</Text>
        <SignOut />
        <Button onClick={() => setHelpOpen(true)} label="Keys">
          ?
        </Button>
      </span>
      <Sheet open={isHelpOpen} onClose={() => setHelpOpen(false)} title="Keys">
        <dl className="keys">
          {SHORTCUTS.map(({ keys, does }) => (
            <div key={keys}>
              <dt>
                <kbd>{keys}</kbd>
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
      </Sheet>
    </header>
  );
}

/** Ends the session; shows the reason when it could not be ended. */
function SignOut() {
  const [problem, setProblem] = useState<unknown>(null);
  return (
    <>
      <Button onClick={() => void signOut().catch(setProblem)}>Sign out</Button>
      {problem !== null && <strong>You may still be signed in.</strong>}
      <Problem error={problem} />
    </>
  );
}

/** Opens the page of search results; the searched text is in that page's URL. */
function SearchBox() {
  const navigate = useNavigate();
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const shown = path.endsWith('/search') && typeof search['q'] === 'string' ? search['q'] : '';
  return (
    <search>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const q = new FormData(event.currentTarget).get('q');
          if (typeof q !== 'string' || q.trim() === '') return;
          void navigate({ to: '/search' as never, search: { q: q.trim() } as never });
          // Moves the focus to the results, so that a screen reader continues there.
          document.getElementById('page')?.focus({ preventScroll: true });
        }}
      >
        <input
          id={SEARCH_ID}
          key={shown}
          name="q"
          type="search"
          aria-label="Search"
          aria-keyshortcuts="/"
          placeholder="Id, hash, reference, address"
          maxLength={256}
          defaultValue={shown}
          autoComplete="off"
          spellCheck={false}
        />
      </form>
    </search>
  );
}

const MODES: Readonly<Record<string, string>> = {
  drain: 'Drain: no new movements',
  frozen: 'Frozen: nothing is sent',
};

function Cutover() {
  const { data } = useRead('getCutoverMode', {});
  if (data === undefined) return <span className="mode">Mode unknown</span>;
  const words = MODES[data.mode];
  if (words === undefined) return <span className="mode">Mode normal</span>;
  return (
    <strong className="mode alarm">
      {words}
      {data.reason !== null && (
        <>
          {' '}
          (<Text most={80}>{data.reason}</Text>)
        </>
      )}
    </strong>
  );
}

const LIVENESS = {
  live: 'Live',
  behind: 'Behind: read again every 15 s',
  offline: 'Offline: nothing here is new',
} as const;

/**
 * Shows whether the page is live. When a read failed, shows how old the oldest data on the page is.
 */
function Live() {
  const state = useStore(liveness);
  const oldest = useOldestFailure();
  const [, refresh] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => refresh((count) => count + 1), 5_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <span role="status" className={state === 'live' && oldest === null ? 'live' : 'live alarm'}>
      {LIVENESS[state]}
      {oldest !== null &&
        `. ${oldest === 0 ? 'Something could not be read' : `Some of it is as of ${timeInWords(new Date(oldest).toISOString())}`}`}
    </span>
  );
}
