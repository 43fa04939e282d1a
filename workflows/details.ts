/** Shows a run's state to operators in the Temporal UI. */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import {
  ATTENTION_OF_STATE,
  type AttentionReason,
  type SignalledAttention,
} from '../domain/attention-reasons.ts';
import { onCancelTargets } from '../domain/graph/edges.ts';
import { SEARCH_ATTRIBUTES, type LoadedMovement, type LoadedNode } from '../domain/messages.ts';

const keys = {
  state: defineSearchAttributeKey(SEARCH_ATTRIBUTES.state, SearchAttributeType.KEYWORD),
  strategy: defineSearchAttributeKey(SEARCH_ATTRIBUTES.strategy, SearchAttributeType.KEYWORD),
  asset: defineSearchAttributeKey(SEARCH_ATTRIBUTES.asset, SearchAttributeType.KEYWORD),
  template: defineSearchAttributeKey(SEARCH_ATTRIBUTES.template, SearchAttributeType.KEYWORD),
  attention: defineSearchAttributeKey(SEARCH_ATTRIBUTES.attention, SearchAttributeType.KEYWORD),
};

/** The values that were written to the search attributes last. */
export interface Shown {
  readonly state: LoadedMovement['state'];
  readonly attention: AttentionReason | null;
}

/**
 * Shows state and nodes in the Temporal UI. `attention`: the reason that was signalled; `shown`:
 * null the first time.
 */
export function show(
  view: LoadedMovement,
  attention: SignalledAttention,
  shown: Shown | null,
): Shown {
  const next = { state: view.state, attention: attention?.reason ?? reasonOf(view) };
  const changed = [
    ...(next.state === shown?.state ? [] : [{ key: keys.state, value: next.state }]),
    // The first time, null is written too: a run that continues another run inherits its search
    // attributes.
    ...(shown !== null && next.attention === shown.attention
      ? []
      : [{ key: keys.attention, value: next.attention }]),
  ];
  const once = [
    { key: keys.asset, value: view.asset },
    { key: keys.template, value: view.template_key },
    ...(view.strategy_id === null ? [] : [{ key: keys.strategy, value: view.strategy_id }]),
  ];
  if (changed.length > 0) upsertSearchAttributes([...changed, ...(shown === null ? once : [])]);
  setCurrentDetails(currentDetails(view, attention));
  return next;
}

/** Returns why a person is needed, as far as the run knows. */
function reasonOf(view: LoadedMovement): AttentionReason | null {
  // Nodes behind on_cancel edges may fail and need a person, although the movement's state stays.
  if (view.state === 'CANCELLED' && (view.conduct ?? 0) >= 3) {
    const lane = onCancelTargets(view.edges);
    if (view.nodes.some(({ state }) => state === 'UNKNOWN')) return 'unknown_outcome';
    const failed = view.nodes.some((node) => node.state === 'FAILED' && lane.has(node.node_key));
    return failed ? 'failed' : null;
  }
  return ATTENTION_OF_STATE[view.state] ?? null;
}

/** Graphs with more nodes than this show counts by state, and table rows only for open nodes. */
const ALL_SHOWN = 50;
/** Most rows for a large graph; even with the longest keys, the details stay below 10 kB. */
const MOST_ROWS = 40;
const LONGEST_NAME = 64;

/**
 * Returns the graph's state as Markdown, open nodes first, because the UI initially shows only the
 * first lines. Kept small and cheap, since every change makes it again.
 */
export function currentDetails(view: LoadedMovement, attention: SignalledAttention = null): string {
  const head = `**${view.state}**${waits(view, attention)} · ${plain(view.template_key)} v${String(view.template_version)} · ${plain(view.asset)}`;
  const wanted = view.nodes.filter(isOpen);
  const unknown = unknownLines(view);
  if (view.nodes.length <= ALL_SHOWN) {
    const others = view.nodes.filter((node) => !isOpen(node));
    return [head, ...unknown, '', ...table([...wanted, ...others])].join('\n');
  }
  const rest = wanted.length - MOST_ROWS;
  return [
    head,
    ...unknown,
    '',
    `${String(view.nodes.length)} nodes: ${counts(view.nodes)}`,
    ...(wanted.length === 0 ? [] : ['', ...table(wanted.slice(0, MOST_ROWS))]),
    ...(rest > 0 ? ['', `and ${String(rest)} more of these`] : []),
  ].join('\n');
}

/** Most UNKNOWN nodes that are explained; the others are only in the table. */
const MOST_UNKNOWN = 3;

/**
 * Returns lines that state how to look at an UNKNOWN node and how to resolve it. The executor's
 * last message may contain addresses, so it is not stored in the history: a line states where to
 * read it.
 */
function unknownLines({ movement_id, nodes }: LoadedMovement): readonly string[] {
  return nodes
    .filter(({ state }) => state === 'UNKNOWN')
    .slice(0, MOST_UNKNOWN)
    .flatMap((node) => {
      const key = plain(node.node_key);
      // The API assumes the first attempt when the command names none.
      const attempt = node.attempt === 1 ? '' : ` --attempt ${String(node.attempt)}`;
      return [
        '',
        `**${key}** is UNKNOWN · ${plain(node.error_code ?? '')}`,
        '',
        `key: ${plain(movement_id)}:${key}:${String(node.attempt)}`,
        '',
        `last words: fundctl movements show ${plain(movement_id)}`,
        '',
        `then: fundctl movements resolve ${plain(movement_id)} ${key}`,
        '',
        `--outcome completed|failed|abandoned${attempt} --reason … --evidence reference=…`,
      ];
    });
}

/** Returns what a movement that needs a person waits for. */
function waits(view: LoadedMovement, attention: SignalledAttention): string {
  const reason = attention?.reason ?? ATTENTION_OF_STATE[view.state];
  const node = attention === null ? waitedFor(view) : plain(attention.node_key ?? 'a node');
  if (reason === undefined) return '';
  switch (reason) {
    case 'approval':
      return ' · waits for an approval';
    case 'approval_expires_soon':
      return ' · waits for an approval that expires soon';
    case 'approval_unsatisfiable':
      return ' · waits for approvals, and too few people may approve';
    case 'approval_compromised':
      return ' · was approved with a compromised key';
    case 'manual_gate':
      return ` · waits at gate ${node}`;
    case 'unknown_outcome':
      return ` · the outcome of ${node} is unknown`;
    case 'landed_late':
      return ` · ${node} landed late, or sent nothing after all`;
    case 'failed':
      return ` · failed at ${node}`;
    case 'lane_stuck':
      return ` · ${node} waits in a stuck nonce lane`;
    case 'lane_blocked':
      return ` · ${node} waits for an earlier transaction of its account`;
    case 'clock_difference':
      return ` · ${node} waits until clocks agree`;
    case 'delivery_late':
      return ` · ${node} waits for a bridge, longer than it should`;
    case 'executor_unavailable':
      return ` · ${node} waits for its executor`;
    case 'venue_suspended':
      return ` · ${node} waits for its venue, which does not pay out at present`;
    case 'withdrawal_quota_exhausted':
      return ` · ${node} waits for the withdrawal quota of its account`;
    case 'observed_long':
      return ` · ${node} is observed for longer than usual`;
    case 'run_stuck':
      return ' · its run cannot go on';
  }
}

/** Returns the names of the nodes that caused the movement's state. */
function waitedFor({ state, nodes, error_code }: LoadedMovement): string {
  const [first, ...others] = nodes.filter((node) => {
    if (state === 'WAITING_MANUAL_ACTION')
      return node.node_kind === 'manual_gate' && node.state === 'READY';
    if (state === 'MANUAL_INTERVENTION') return node.state === 'UNKNOWN';
    return state === 'FAILED' && node.state === 'FAILED' && node.error_code === error_code;
  });
  if (first === undefined) return 'a node';
  return `${plain(first.node_key)}${others.length === 0 ? '' : ` and ${String(others.length)} more`}`;
}

/**
 * Returns whether a node has started and not ended, or ended in a way that a person should look at.
 */
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
 * Returns external text as one short literal line, which cannot add a table cell, mark-up, a link
 * or reversed text.
 */
export function plain(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]+/gu, ' ').trim();
  const points = [...line];
  const short =
    points.length > LONGEST_NAME ? `${points.slice(0, LONGEST_NAME - 1).join('')}…` : line;
  return short.replace(/[\\`*_{}[\]()<>#!|~&:@$^]|(?<=www)\./giu, '\\$&');
}
