/**
 * Every page: its path below `/console`, and the module that is loaded when the page is opened. The
 * module's default export is the component. A page with `navigation` is linked in every header, so
 * only finished pages are listed here. Pages read their parameters with `useParams({ strict: false
 * })` and filters with `useSearch({ strict: false })`: strings, as in the URL.
 */
import type { ComponentType } from 'react';

export interface PageEntry {
  /** Path below `/console`; `$name` is a parameter. */
  readonly path: string;
  readonly title: string;
  /** Text of the link in the header; null for a page that only other pages link to. */
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
  {
    path: '/approvals',
    title: 'Approvals',
    navigation: 'Approvals',
    load: () => import('./pages/approvals/page.tsx'),
  },
  {
    path: '/changes',
    title: 'Changes',
    navigation: 'Changes',
    load: () => import('./pages/changes/page.tsx'),
  },
  {
    path: '/changes/$change_request_id',
    title: 'Change request',
    navigation: null,
    load: () => import('./pages/change/page.tsx'),
  },
  {
    path: '/movements',
    title: 'Movements',
    navigation: 'Movements',
    load: () => import('./pages/movements/page.tsx'),
  },
  {
    path: '/transfers',
    title: 'Transfers',
    navigation: 'Transfers',
    load: () => import('./pages/transfers/page.tsx'),
  },
  {
    path: '/transfers/$transfer_id',
    title: 'Capital transfer',
    navigation: null,
    load: () => import('./pages/transfer/page.tsx'),
  },
  {
    path: '/allowlist',
    title: 'Allowlist',
    navigation: 'Allowlist',
    load: () => import('./pages/allowlist/page.tsx'),
  },
  {
    path: '/callbacks',
    title: 'Callbacks',
    navigation: 'Callbacks',
    load: () => import('./pages/callbacks/page.tsx'),
  },
  {
    path: '/audit',
    title: 'Audit',
    navigation: 'Audit',
    load: () => import('./pages/audit/page.tsx'),
  },
  {
    path: '/search',
    title: 'Search',
    navigation: null,
    load: () => import('./pages/search/page.tsx'),
  },
  {
    path: '/movements/$movement_id',
    title: 'Movement',
    navigation: null,
    load: () => import('./pages/movement/page.tsx'),
  },
  {
    path: '/balances',
    title: 'Balances',
    navigation: 'Balances',
    load: () => import('./pages/balances/page.tsx'),
  },
  {
    path: '/new',
    title: 'New movement',
    navigation: 'New movement',
    load: () => import('./pages/new-movement/page.tsx'),
  },
  {
    path: '/policies',
    title: 'Policies and budgets',
    navigation: 'Policies',
    load: () => import('./pages/policies/page.tsx'),
  },
  {
    path: '/templates',
    title: 'Templates',
    navigation: 'Templates',
    load: () => import('./pages/templates/page.tsx'),
  },
  {
    path: '/templates/$template_id',
    title: 'Template',
    navigation: null,
    load: () => import('./pages/template/page.tsx'),
  },
  {
    path: '/proposals',
    title: 'Proposals',
    navigation: 'Proposals',
    load: () => import('./pages/proposals/page.tsx'),
  },
  {
    path: '/proposals/$proposal_id',
    title: 'Proposal',
    navigation: null,
    load: () => import('./pages/proposal/page.tsx'),
  },
  {
    path: '/executors',
    title: 'Executors',
    navigation: 'Executors',
    load: () => import('./pages/executors/page.tsx'),
  },
  {
    path: '/signers',
    title: 'Signers and nonce lanes',
    navigation: 'Signers',
    load: () => import('./pages/signers/page.tsx'),
  },
  {
    path: '/signers/$signer_key',
    title: 'Signer',
    navigation: null,
    load: () => import('./pages/signer/page.tsx'),
  },
  {
    path: '/routes',
    title: 'Routes',
    navigation: 'Routes',
    load: () => import('./pages/routes/page.tsx'),
  },
  {
    path: '/bridges',
    title: 'Bridges',
    navigation: 'Bridges',
    load: () => import('./pages/bridges/page.tsx'),
  },
  {
    path: '/perps',
    title: 'Perps venue',
    navigation: 'Perps',
    load: () => import('./pages/perps/page.tsx'),
  },
  {
    path: '/passkeys',
    title: 'Passkeys',
    navigation: 'Passkeys',
    load: () => import('./pages/passkeys/page.tsx'),
  },
];
