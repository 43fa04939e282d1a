/** All nodes and edges as text; failures and outputs are visible without a click. */
import { Address, Amount, Id, Time } from '../../../parts/values.tsx';
import { Text } from '../../../parts/text.tsx';
import type { Movement } from '../model/answers.ts';
import type { Placed } from '../model/graph.ts';
import { STATE_SIGNS } from '../model/graph.ts';
import { Fields, field } from '../../../parts/fields.tsx';
import { Json } from '../../../parts/json.tsx';
import { List, Table } from '../../../parts/table.tsx';

type Node = Movement['nodes'][number];

/** Lists the nodes in the order of the graph; nodes outside the graph come last. */
export function Nodes({ nodes, graph }: { nodes: readonly Node[]; graph: Placed | null }) {
  const places = new Map(graph?.nodes.map(({ node_key }, index) => [node_key, index]));
  const ordered = nodes.toSorted(
    (one, other) =>
      (places.get(one.node_key) ?? nodes.length) - (places.get(other.node_key) ?? nodes.length),
  );
  return (
    <List
      label="Nodes"
      className="nodes"
      height={300}
      rows={ordered}
      keyOf={({ node_key }) => node_key}
      entry={(node) => <OneNode node={node} />}
    />
  );
}

function OneNode({ node }: { node: Node }) {
  const { sign, word } = STATE_SIGNS[node.state];
  const { error_code, error_message, original_signer_binding: planned } = node;
  return (
    <article aria-label={`Node ${node.node_key}`}>
      <h3>
        <Text>{node.node_key}</Text>{' '}
        <span className="state" data-state={node.state}>
          <span aria-hidden="true">{sign}</span> {word}
        </span>
      </h3>
      {(error_code !== null || error_message !== null) && (
        <p className="problem">
          {error_code !== null && <code>{error_code}</code>}{' '}
          {error_message !== null && <Text>{error_message}</Text>}
        </p>
      )}
      {node.description !== null && (
        <p>
          <Text>{node.description}</Text>
        </p>
      )}
      <Fields
        of={[
          field(
            'Does',
            <Text>{`${node.action_type} (${node.node_kind}), attempt ${String(node.attempt)}`}</Text>,
          ),
          field(
            'Amount',
            node.amount === null ? null : <Amount amount={node.amount} asset={node.asset} />,
          ),
          field('Asset', node.amount === null ? <Text>{node.asset}</Text> : null),
          field('Pays', node.destination === null ? null : <Address address={node.destination} />),
          field('Reference', node.external_ref === null ? null : <Id>{node.external_ref}</Id>),
          field('Output', node.output === null ? null : <Json value={node.output} />),
          field('Executor', <Text>{node.executor_binding.executor_key}</Text>),
          field(
            'Signer',
            node.signer_binding === null ? null : (
              <>
                <Text>{node.signer_binding.signer_key}</Text>
                {planned !== undefined && (
                  <strong>
                    {' '}
                    in the place of <Text>{planned?.signer_key ?? 'none'}</Text> of the plan
                  </strong>
                )}
              </>
            ),
          ),
          field('Idempotency key', <Id>{node.idempotency_key}</Id>),
          field('Started', node.started_at === null ? null : <Time at={node.started_at} />),
          field('Changed', <Time at={node.updated_at} />),
          field('Completed', node.completed_at === null ? null : <Time at={node.completed_at} />),
        ]}
      />
    </article>
  );
}

export function Edges({ edges }: { edges: Placed['edges'] }) {
  if (edges.length === 0) return null;
  return (
    <Table
      caption="Edges"
      rows={edges}
      keyOf={(edge) => String(edges.indexOf(edge))}
      columns={[
        { title: 'From', cell: ({ from }) => <Text>{from}</Text> },
        { title: 'To', cell: ({ to }) => <Text>{to}</Text> },
        { title: 'Goes on', cell: ({ words }) => <Text>{words}</Text> },
        { title: 'Status', cell: ({ statusWord }) => statusWord },
      ]}
    />
  );
}
