/** What an operator reads about a run in the Temporal UI. */
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { SEARCH_ATTRIBUTES, type LoadedMovement } from '../domain/messages.ts';

const keys = {
  state: defineSearchAttributeKey(SEARCH_ATTRIBUTES.state, SearchAttributeType.KEYWORD),
  strategy: defineSearchAttributeKey(SEARCH_ATTRIBUTES.strategy, SearchAttributeType.KEYWORD),
  asset: defineSearchAttributeKey(SEARCH_ATTRIBUTES.asset, SearchAttributeType.KEYWORD),
  template: defineSearchAttributeKey(SEARCH_ATTRIBUTES.template, SearchAttributeType.KEYWORD),
};

/** Shows state and nodes; `shown` is the state that was indexed last, null before the first time. */
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
  const rows = view.nodes.map((node) => `| ${node.node_key} | ${node.state} | ${node.attempt} | ${node.error_code ?? ''} |`);
  setCurrentDetails(
    [
      `**${view.state}** · ${view.template_key} v${view.template_version} · ${view.asset}`,
      '',
      '| node | state | attempt | error |',
      '|---|---|---|---|',
      ...rows,
    ].join('\n'),
  );
  return view.state;
}
