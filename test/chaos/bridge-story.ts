/** What the service says of a movement across a bridge, and whether that is the story of one. */
import { assertConsistent, type MovementView, type TimelineView } from '../support/evidence.ts';

/** What the service says of a movement at the end. */
export interface FinalView {
  readonly movement: MovementView;
  readonly timeline: readonly TimelineView[];
}
/** By movement. */
export type FinalViews = ReadonlyMap<string, FinalView>;

interface Known {
  readonly key: string;
  readonly movement_id: string | null;
}

/** It is there, it is COMPLETED, and its timeline says the same. */
export function storyOf({ key, movement_id }: Known, views: FinalViews): readonly string[] {
  const view = views.get(movement_id ?? '');
  if (view === undefined) return [`${key}: there is no movement`];
  const { movement, timeline } = view;
  const found: string[] = [];
  if (movement.request_state !== 'COMPLETED')
    found.push(
      `${key}: it is ${movement.request_state} (${movement.nodes.map((node) => `${node.node_key} ${node.state} ${node.error_code ?? ''}`).join(', ')})`,
    );
  try {
    assertConsistent(movement, timeline);
  } catch (error) {
    found.push(`${key}: ${String(error)}`);
  }
  return found;
}

/** The output of a node; null without the movement or the node. */
export function outputOf(
  { movement_id }: Known,
  views: FinalViews,
  node: string,
): Readonly<Record<string, unknown>> | null {
  const { movement } = views.get(movement_id ?? '') ?? {};
  return movement?.nodes.find(({ node_key }) => node_key === node)?.output ?? null;
}
