/** What stands around every page. */
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Gate } from './gate.tsx';
import { Header } from './header.tsx';

export function Shell() {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // A page that is opened begins at its heading, for who reads by ear too.
  useEffect(() => {
    document.querySelector<HTMLElement>('#page')?.focus({ preventScroll: true });
  }, [path]);
  return (
    <Gate>
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <Header />
      <main id="page" tabIndex={-1}>
        <Outlet />
      </main>
    </Gate>
  );
}
