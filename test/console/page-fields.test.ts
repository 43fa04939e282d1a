/**
 * Every field of every answer that a page reads is shown without a click, or stands in the list of
 * hidden ones with a reason: its value is in the page, or, where it is one of few, another value
 * gives another page.
 */
import { isIn } from './answers.ts';
import { drawn, type Drawn, type PageCase } from './pages.ts';

const BASIS = { 'listAutoApprovePolicies[].strategy_id': 'basis' };
const EDGES = {
  'getPlanTemplate.nodes[].node_key': 'pay',
  'getPlanTemplate.edges[].from': 'pay',
  'getPlanTemplate.edges[].to': 'pay',
};

const CASES: readonly PageCase[] = [
  { path: '/changes', at: '/changes' },
  // With its document unread, the page shows the answer itself.
  {
    ...{ path: '/changes/$change_request_id', at: '/changes/one' },
    answers: { 'document-reading': null },
  },
  { path: '/balances', at: '/balances' },
  { path: '/new', at: '/new' },
  {
    path: '/new',
    at: '/new?template_key=starter&template_version=7',
    where: { 'listPlanTemplates.plan_templates[].version': 7 },
  },
  { path: '/policies', at: '/policies?strategy_id=basis', where: BASIS },
  { path: '/templates', at: '/templates' },
  { path: '/templates/$template_id', at: '/templates/one', where: EDGES },
  { path: '/proposals/$proposal_id', at: '/proposals/one' },
  { path: '/transfers/$transfer_id', at: '/transfers/one' },
  { path: '/proposals', at: '/proposals?authority_key=desk' },
  { path: '/executors', at: '/executors' },
  { path: '/signers', at: '/signers' },
  {
    path: '/signers/$signer_key',
    at: '/signers/desk',
    where: { 'listSigners[].signer_key': 'desk' },
  },
  { path: '/routes', at: '/routes' },
  { path: '/bridges', at: '/bridges' },
  { path: '/perps', at: '/perps?strategy_id=basis' },
  { path: '/passkeys', at: '/passkeys' },
];

const ELSEWHERE = 'the page of the template shows it; here it is chosen and used';
const OF_ONE = 'the page of the change request shows it';

/** By page, then by the beginning of the path; every entry is missed if it goes. */
const HIDDEN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/balances': {},
  '/changes': Object.fromEntries(
    [
      ...['hash', 'body', 'subject', 'before', 'after', 'reason', 'code', 'ended_at', 'ended_by'],
      ...['approvals.rules', 'approvals.required[].rule', 'approvals.required[].threshold'],
      ...['approvals.required[].received', 'approvals.decisions', 'approvals.you'],
    ].map((name) => [`listChangeRequests.change_requests[].${name}`, OF_ONE]),
  ),
  '/changes/$change_request_id': {
    'listApprovalRules.': 'it is read for whether an approval needs a reason',
  },
  '/new': {
    'listPlanTemplates.plan_templates[].': ELSEWHERE,
    'getPlanTemplate.': ELSEWHERE,
  },
  '/templates/$template_id': {
    'listPlanTemplates.plan_templates[].': 'the list of templates shows it; here one is chosen',
    'getPlanTemplate.edges[].id': 'names nothing that a person looks for',
  },
  '/signers/$signer_key': { 'listSigners[].': 'the list of signers shows it' },
};

/** Returns the paths of fields that are neither shown nor hidden for a reason. */
function missingOn(path: string, { leaves, html }: Drawn): readonly string[] {
  const text = html();
  const isShown = ({ value, other, put }: (typeof leaves)[number]): boolean => {
    if (other === undefined) return isIn(text, value);
    put(other);
    const differs = html() !== text;
    put(value);
    return differs;
  };
  const hidden = Object.keys(HIDDEN[path] ?? {});
  return leaves
    .filter((leaf) => !isShown(leaf) && !hidden.some((each) => leaf.path.startsWith(each)))
    .map((leaf) => leaf.path);
}

test.each(CASES)('every field is shown, or hidden for a reason, at $at', async ({ ...page }) => {
  const read = await drawn(page);
  expect(read.reads.length).toBeGreaterThan(0);
  expect(read.html()).toContain('<h1>');
  expect(missingOn(page.path, read)).toEqual([]);
});

test('with its document read, a change is shown from it, and the rest from the answer', async () => {
  const path = '/changes/$change_request_id';
  const names = ['kind', 'author', 'method', 'path', 'body', 'subject', 'before', 'after'];
  const wanted = Object.fromEntries(names.map((name) => [name, `${name} of the document`]));
  const answers = { 'document-reading': { status: 'agrees', wanted } };
  const read = await drawn({ path, at: '/changes/one', answers });
  for (const value of Object.values(wanted)) expect(isIn(read.html(), value)).toBe(true);
  const ofDocument = names.map((name) => `getChangeRequest.${name}`);
  const missing = missingOn(path, read);
  expect(missing.filter((each) => !ofDocument.includes(each))).toEqual([]);
});

test('hidden are only fields that there are', async () => {
  const paths = new Map<string, string[]>();
  for (const page of CASES) {
    const { leaves } = await drawn(page);
    paths.set(page.path, [...(paths.get(page.path) ?? []), ...leaves.map(({ path }) => path)]);
  }
  for (const [page, hidden] of Object.entries(HIDDEN))
    for (const beginning of Object.keys(hidden))
      expect(paths.get(page)?.some((path) => path.startsWith(beginning))).toBe(true);
});
