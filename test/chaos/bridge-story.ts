/** What the service says of a movement across a bridge, and whether that is the story of one. */
import { assertConsistent, type MovementView, type TimelineView } from '../support/evidence.ts';

/** What the service says of a movement at the end. */
export interface Told {
  readonly movement: MovementView;
  readonly timeline: readonly TimelineView[];
}
/** By movement. */
export type Tellings = ReadonlyMap<string, Told>;

interface Known {
  readonly key: string;
  readonly movement_id: string | null;
}

/** It is there, it is COMPLETED, and its timeline says the same. */
export function storyOf({ key, movement_id }: Known, tellings: Tellings): readonly string[] {
  const told = tellings.get(movement_id ?? '');
  if (told === undefined) return [`${key}: there is no movement`];
  const { movement, timeline } = told;
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

/** What a node has recorded; null where nobody knows of one. */
export function outputOf(
  { movement_id }: Known,
  tellings: Tellings,
  node: string,
): Readonly<Record<string, unknown>> | null {
  const { movement } = tellings.get(movement_id ?? '') ?? {};
  return movement?.nodes.find(({ node_key }) => node_key === node)?.output ?? null;
}
