/** What an operator reads about a run in the Temporal UI. */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { SEARCH_ATTRIBUTES, type LoadedMovement, type LoadedNode } from '../domain/messages.ts';

const keys = {
  state: defineSearchAttributeKey(SEARCH_ATTRIBUTES.state, SearchAttributeType.KEYWORD),
  strategy: defineSearchAttributeKey(SEARCH_ATTRIBUTES.strategy, SearchAttributeType.KEYWORD),
  asset: defineSearchAttributeKey(SEARCH_ATTRIBUTES.asset, SearchAttributeType.KEYWORD),
  template: defineSearchAttributeKey(SEARCH_ATTRIBUTES.template, SearchAttributeType.KEYWORD),
};

/**
 * Shows state and nodes; `shown` is the state that was indexed last, null before the first time.
 */
export function show(view: LoadedMovement, shown: string | null): string {
  if (shown === null) {
    upsertSearchAttributes([
      { key: keys.state, value: view.state },
      { key: keys.asset, value: view.asset },
      { key: keys.template, value: view.template_key },
      ...(view.strategy_id === null ? [] : [{ key: keys.strategy, value: view.strategy_id }]),
    ]);
  } else if (shown !== view.state) {
    upsertSearchAttributes([{ key: keys.state, value: view.state }]);
  }
  setCurrentDetails(currentDetails(view));
  return view.state;
}

/**
 * More nodes than this are counted by state, and only those that somebody may look for have a row.
 */
const ALL_SHOWN = 50;
/** Rows of a big graph; with the longest keys the details stay below 10 kB. */
const MOST_ROWS = 40;
const LONGEST_NAME = 64;

/**
 * The graph's state as Markdown, what somebody may look for first: the UI shows the first lines
 * until it is asked for more. Bounded, and cheap: it is made anew after every change.
 */
export function currentDetails(view: LoadedMovement): string {
  const head = `**${view.state}**${waits(view)} · ${plain(view.template_key)} v${String(view.template_version)} · ${plain(view.asset)}`;
  const wanted = view.nodes.filter(isOpen);
  if (view.nodes.length <= ALL_SHOWN) {
    const others = view.nodes.filter((node) => !isOpen(node));
    return [head, '', ...table([...wanted, ...others])].join('\n');
  }
  const rest = wanted.length - MOST_ROWS;
  return [
    head,
    '',
    `${String(view.nodes.length)} nodes: ${counts(view.nodes)}`,
    ...(wanted.length === 0 ? [] : ['', ...table(wanted.slice(0, MOST_ROWS))]),
    ...(rest > 0 ? ['', `and ${String(rest)} more of these`] : []),
  ].join('\n');
}

/** Whom or what a movement that needs a person waits for. */
function waits({ state, nodes, error_code }: LoadedMovement): string {
  const names = (at: (node: LoadedNode) => boolean): string => {
    const [first, ...others] = nodes.filter(at);
    if (first === undefined) return 'a node';
    return `${plain(first.node_key)}${others.length === 0 ? '' : ` and ${String(others.length)} more`}`;
  };
  switch (state) {
    case 'PENDING_APPROVAL':
      return ' · waits for an approval';
    case 'WAITING_MANUAL_ACTION':
      return ` · waits at gate ${names((node) => node.node_kind === 'manual_gate' && node.state === 'READY')}`;
    case 'MANUAL_INTERVENTION':
      return ` · nobody can say what became of ${names((node) => node.state === 'UNKNOWN')}`;
    case 'FAILED':
      return ` · failed at ${names((node) => node.state === 'FAILED' && node.error_code === error_code)}`;
    default:
      return '';
  }
}

/** Begun and not ended, or ended in a way that needs a look. */
function isOpen({ state }: LoadedNode): boolean {
  return !['BLOCKED', 'COMPLETED', 'SKIPPED', 'CANCELLED'].includes(state);
}

function counts(nodes: readonly LoadedNode[]): string {
  const byState = new Map<string, number>();
  for (const { state } of nodes) byState.set(state, (byState.get(state) ?? 0) + 1);
  return [...byState].map(([state, count]) => `${String(count)} ${state}`).join(', ');
}

function table(nodes: readonly LoadedNode[]): string[] {
  return [
    '| node | state | attempt | error |',
    '|---|---|---|---|',
    ...nodes.map(
      (node) =>
        `| ${plain(node.node_key)} | ${node.state} | ${String(node.attempt)} | ${plain(node.error_code ?? '')} |`,
    ),
  ];
}

/**
 * Text from elsewhere as one short line that shows as itself: no cell, mark-up, link or reversed
 * text can come of it.
 */
export function plain(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]+/gu, ' ').trim();
  const points = [...line];
  const short =
    points.length > LONGEST_NAME ? `${points.slice(0, LONGEST_NAME - 1).join('')}…` : line;
  return short.replace(/[\\`*_{}[\]()<>#!|~&:@$^]|(?<=www)\./giu, '\\$&');
}
