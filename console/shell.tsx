/** What stands around every page: the header with its links, and the page. */
import { Link, Outlet } from '@tanstack/react-router';
import { PAGES } from './routes.ts';

export function Shell() {
  return (
    <>
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <header className="header">
        <nav aria-label="Pages">
          {PAGES.filter(({ navigation }) => navigation !== null).map(({ path, navigation }) => (
            <Link key={path} to={path} activeOptions={{ exact: path === '/' }}>
              {navigation}
            </Link>
          ))}
        </nav>
      </header>
      <main id="page" tabIndex={-1}>
        <Outlet />
      </main>
    </>
  );
}
