/** The frame of every page: session gate, header, what the whole service says, and main area. */
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { BrokenGlass } from './broken-glass.tsx';
import { Gate } from './gate.tsx';
import { Header } from './header.tsx';

/** The page that lists what the banner only counts. */
const NEEDS_YOU = '/';

export function Shell() {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // A newly opened page gets the focus, so that a screen reader starts there.
  useEffect(() => {
    document.querySelector<HTMLElement>('#page')?.focus({ preventScroll: true });
  }, [path]);
  return (
    <Gate>
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <Header />
      {path !== NEEDS_YOU && <BrokenGlass />}
      <main id="page" tabIndex={-1}>
        <Outlet />
      </main>
    </Gate>
  );
}
