/**
 * Draws the live graph with outlines, signs and words; the table below the drawing shows the same
 * as text.
 */
import { isSettled } from '../../../../domain/states/node.ts';
import { Scroll } from '../../../parts/section.tsx';
import { visibleText } from '../../../parts/visible.ts';
import type { Outline, Placed, PlacedEdge, PlacedNode, Point } from '../model/graph.ts';
import { fitting, short } from '../model/graph.ts';

export function GraphDrawing({
  graph,
  label = 'Graph of the movement',
}: {
  graph: Placed;
  label?: string;
}) {
  const { width, height, nodes, edges } = graph;
  return (
    <>
      <Scroll label={label} start={startOf(nodes)}>
        <svg
          role="group"
          aria-label={`Graph of ${String(nodes.length)} nodes and ${String(edges.length)} edges; the tables below say the same.`}
          width={width}
          height={height}
          viewBox={`0 0 ${String(width)} ${String(height)}`}
          className="graph"
        >
          <defs>
            <marker
              id="arrow"
              viewBox="0 0 10 10"
              refX="9"
              refY="5"
              markerWidth="10"
              markerHeight="10"
              markerUnits="userSpaceOnUse"
              orient="auto"
            >
              <path d="M0 0 L10 5 L0 10 Z" />
            </marker>
          </defs>
          {edges.map((edge, index) => (
            <Edge key={index} edge={edge} />
          ))}
          {nodes.map((node) => (
            <Node key={node.node_key} node={node} />
          ))}
        </svg>
      </Scroll>
      <p className="small">
        {nodes.some(({ state }) => state !== null) &&
          'Thick: fired. Thin: pending. Dotted: dead. Dashes: not said. '}
        Box: action. Rounded: observes. Hexagon: gate. Double box: compensation. Slanted:
        afterwards.
      </p>
    </>
  );
}

/**
 * Returns where the drawing opens: at the first node in progress, else at the first node. The left
 * side of a wide drawing is often empty.
 */
function startOf(nodes: readonly PlacedNode[]): Point {
  const { x, y, height } = nodes.find(isUnderWay) ?? nodes[0] ?? { x: 0, y: 0, height: 0 };
  return { x, y: y - height };
}

function isUnderWay({ state }: PlacedNode): boolean {
  return state !== null && state !== 'BLOCKED' && !isSettled(state);
}

function Edge({
  edge: { from, to, points, label, words, stroke, statusWord },
}: {
  edge: PlacedEdge;
}) {
  return (
    <g className="edge" data-stroke={stroke} role="img">
      <title>{`Edge ${short(from)} to ${short(to)}: ${words}, ${statusWord}`}</title>
      <path d={lineThrough(points)} markerEnd="url(#arrow)" />
      <text x={label.x} y={label.y + 4} textAnchor="middle">
        {words}
      </text>
    </g>
  );
}

function Node({ node }: { node: PlacedNode }) {
  const { x, y, width, outline, state, sign, stateWord, kindWord, attempt } = node;
  const word = `${stateWord}${attempt > 1 ? `, attempt ${String(attempt)}` : ''}`;
  const kind = state === null ? '' : `, ${kindWord}`;
  return (
    <g className="node" data-state={state ?? undefined} role="img">
      <title>{`Node ${visibleText(node.node_key)}: ${word}${kind}, ${visibleText(node.action_type)}`}</title>
      <path d={outlineOf(outline, node)} />
      <text x={x} y={y - 16} textAnchor="middle" className="key">
        {fitting(node.node_key, width - ROOM_OF_OUTLINE)}
      </text>
      <text x={x} y={y + 3} textAnchor="middle">
        {fitting(node.action_type, width - ROOM_OF_OUTLINE)}
      </text>
      <text x={x} y={y + 23} textAnchor="middle" className="word">
        {`${sign} ${word}`.trim()}
      </text>
    </g>
  );
}

function lineThrough(points: readonly Point[]): string {
  return points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${at(x)} ${at(y)}`).join(' ');
}

/** Width that slants and arcs take from a node, both sides together. */
const ROOM_OF_OUTLINE = 36;

function outlineOf(outline: Outline, { x, y, width, height }: PlacedNode): string {
  const [left, right, top, bottom] = [x - width / 2, x + width / 2, y - height / 2, y + height / 2];
  const box = closed([left, top], [right, top], [right, bottom], [left, bottom]);
  const cut = 16;
  switch (outline) {
    case 'box':
      return box;
    case 'double_box': {
      const inner = 4;
      return `${box} ${closed(
        [left + inner, top + inner],
        [right - inner, top + inner],
        [right - inner, bottom - inner],
        [left + inner, bottom - inner],
      )}`;
    }
    case 'hexagon':
      return closed(
        ...([
          [left + cut, top],
          [right - cut, top],
          [right, y],
          [right - cut, bottom],
          [left + cut, bottom],
          [left, y],
        ] as const),
      );
    case 'slanted':
      return closed([left + cut, top], [right, top], [right - cut, bottom], [left, bottom]);
    case 'pill': {
      const radius = height / 2;
      const arc = `A${at(radius)} ${at(radius)} 0 0 1`;
      return `M${at(left + radius)} ${at(top)} L${at(right - radius)} ${at(top)} ${arc} ${at(right - radius)} ${at(bottom)} L${at(left + radius)} ${at(bottom)} ${arc} ${at(left + radius)} ${at(top)} Z`;
    }
  }
}

function closed(...corners: readonly (readonly [number, number])[]): string {
  return `${lineThrough(corners.map(([x, y]) => ({ x, y })))} Z`;
}

function at(value: number): string {
  return value.toFixed(1);
}
