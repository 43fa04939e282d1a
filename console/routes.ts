/**
 * Every page, a line each: its path below `/console`, and the module that is loaded when it is
 * opened, whose default export is the component. A page with `navigation` is linked in every
 * header, so only what works stands here. Pages read their parameters with
 * `useParams({ strict: false })` and filters with `useSearch({ strict: false })`: strings, as they
 * stand in the address.
 */
import type { ComponentType } from 'react';

export interface PageEntry {
  /** `$name` is a parameter. */
  readonly path: string;
  readonly title: string;
  /** Its link in the header; null for a page that others lead to. */
  readonly navigation: string | null;
  readonly load: () => Promise<{ readonly default: ComponentType }>;
}

export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    title: 'Needs you',
    navigation: 'Needs you',
    load: () => import('./pages/needs-you/page.tsx'),
  },
];
