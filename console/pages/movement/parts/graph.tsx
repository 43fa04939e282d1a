/** The live graph: outlines, signs and words; the table below it says the same in text. */
import type { Outline, Placed, PlacedEdge, PlacedNode, Point } from '../model/graph.ts';
import { short } from '../model/graph.ts';
import { Scroll } from '../../../parts/section.tsx';

const LONGEST_KEY = 22;
const LONGEST_TYPE = 26;

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
      <Scroll label={label}>
        <svg
          role="img"
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
              markerWidth="8"
              markerHeight="8"
              orient="auto-start-reverse"
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

function Edge({ edge: { points, label, words, stroke } }: { edge: PlacedEdge }) {
  return (
    <g className="edge" data-stroke={stroke}>
      <path d={lineThrough(points)} markerEnd="url(#arrow)" />
      <text x={label.x} y={label.y + 4} textAnchor="middle">
        {words}
      </text>
    </g>
  );
}

function Node({ node }: { node: PlacedNode }) {
  const { x, y, outline, state, sign, stateWord, attempt } = node;
  return (
    <g className="node" data-state={state ?? undefined}>
      <path d={outlineOf(outline, node)} />
      <text x={x} y={y - 16} textAnchor="middle" className="key">
        {short(node.node_key, LONGEST_KEY)}
      </text>
      <text x={x} y={y + 3} textAnchor="middle">
        {short(node.action_type, LONGEST_TYPE)}
      </text>
      <text x={x} y={y + 23} textAnchor="middle" className="word">
        {`${sign} ${stateWord}${attempt > 1 ? `, attempt ${String(attempt)}` : ''}`.trim()}
      </text>
    </g>
  );
}

function lineThrough(points: readonly Point[]): string {
  return points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${at(x)} ${at(y)}`).join(' ');
}

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
