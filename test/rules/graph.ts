import type { Rule } from './rule.ts';

const section = 'The graph';
const WALK = 'test/domain/graph/walk.test.ts';
const RUNS = 'test/http/graph-runs.test.ts';
const EDGES = 'domain/graph/edges.ts';
const THE_WALK = 'domain/graph/walk.ts';

export const graphRules: readonly Rule[] = [
  {
    id: 'groups-settle-whole',
    section,
    rule: 'A group of edges of one join_key is satisfied when each is settled and at least one fired.',
    test: { file: WALK, name: 'wait for every edge of a group and need one that fired' },
    broken: {
      file: THE_WALK,
      find: "group.every((e) => statuses.get(e) !== 'pending') &&\n" + '      group.some',
      replace: 'group.some',
    },
  },
  {
    id: 'any-group-readies',
    section,
    rule: 'A node becomes READY when any of its groups is satisfied, and dead only when all are.',
    test: { file: RUNS, name: 'needs one whole group of edges with one join_key, not all groups' },
    broken: {
      file: THE_WALK,
      find: 'return groups(node, edges).some(',
      replace: 'return groups(node, edges).every(',
    },
  },
  {
    id: 'dead-paths-are-skipped',
    section,
    rule: 'An unreachable node is SKIPPED, and so are nodes that only it leads to.',
    test: { file: WALK, name: 'go on where one way is dead' },
    broken: {
      file: EDGES,
      find: "const cut = node.state === 'BLOCKED' &&",
      replace: "const cut = node.node_key === '' &&",
    },
  },
  {
    id: 'once-per-attempt',
    section,
    rule: 'Whatever the shape, every node settles and none runs twice in an attempt.',
    test: {
      file: 'test/domain/graph/walk.property.test.ts',
      name: 'ends with every node settled, none run twice in an attempt, and each step as the rules say',
    },
    broken: {
      file: THE_WALK,
      find:
        'const satisfied = nodes.filter(\n' +
        "    (node) => node.state === 'BLOCKED' && isSatisfied",
      replace: "const satisfied = nodes.filter((node) => node.state !== 'READY' && isSatisfied",
    },
  },
  {
    id: 'on-cancel-is-ignored-until-a-cancel',
    section,
    rule: 'on_cancel edges are ignored until a cancel; after it they alone count.',
    test: { file: WALK, name: 'runs what on_cancel leads to where the effect landed' },
    broken: {
      file: EDGES,
      find: "if ((edge.edge_type === 'on_cancel') !== cancelled) return 'dead';",
      replace: "if (edge.edge_type === 'on_cancel') return 'dead';",
    },
  },
  {
    id: 'conditions-choose',
    section,
    rule: 'An edge fires only where its condition holds, as it was evaluated when its source settled.',
    test: { file: RUNS, name: 'takes the way that %s asks for and skips the other' },
    broken: {
      file: EDGES,
      find: 'return edge.condition_expr === null || edge.condition === true;',
      replace: 'return true;',
    },
  },
  {
    id: 'conditions-are-stored-with-the-settling',
    section,
    rule: 'The result of a condition is stored by the write that settles its source.',
    test: { file: RUNS, name: 'is remembered while the movement waits for a person' },
    broken: {
      file: 'prisma/functions/write-path.sql',
      find: "edge_conditions = CASE WHEN doc ? 'conditions'\n" + '        THEN',
      replace: 'edge_conditions = CASE WHEN false THEN',
    },
  },
  {
    id: 'condition-errors-fail',
    section,
    rule: 'A condition that cannot be evaluated kills its edge and ends the movement FAILED with CONDITION_ERROR.',
    test: {
      file: WALK,
      name: 'fail the movement when a condition cannot be evaluated, however its source ended',
    },
    broken: {
      file: 'domain/graph/failure.ts',
      find: "edge.condition === 'error' &&",
      replace: 'false &&',
    },
  },
  {
    id: 'priorities-choose',
    section,
    rule: 'Among edges of one type from one node the highest priority fires; equal ones fire together.',
    test: {
      file: RUNS,
      name: 'among edges of one kind the highest priority goes, and equal ones go together',
    },
    broken: {
      file: EDGES,
      find: 'other.priority > edge.priority',
      replace: 'other.priority < edge.priority',
    },
  },
  {
    id: 'time-outs-have-their-own-edge',
    section,
    rule: 'A failure by time-out takes the on_timeout edge, or an on_failure edge where there is none.',
    test: {
      file: RUNS,
      name: 'by time-out takes its on_timeout edge and not the one for failures',
    },
    broken: {
      file: EDGES,
      find: 'const byTimeout = source.timed_out && siblings',
      replace: 'const byTimeout = false && siblings',
    },
  },
  {
    id: 'resumed-gates-fire-both',
    section,
    rule: 'on_manual_resume fires beside on_success when its source completes after a resume, else it is dead.',
    test: {
      file: RUNS,
      name: 'a gate that is resumed fires its on_manual_resume edge beside on_success',
    },
    broken: {
      file: EDGES,
      find: '||\n' + "      (type === 'on_manual_resume' && source.resumed)",
      replace: '',
    },
  },
  {
    id: 'gates-hold-up-only-their-branch',
    section,
    rule: "Another branch goes on while a gate waits, and the movement's state tells of the gate.",
    test: { file: RUNS, name: 'goes on in one branch while a gate waits in the other' },
    broken: {
      file: 'domain/graph/walk.ts',
      find:
        'return {\n' +
        '    ready,\n' +
        '    skip,\n' +
        '    run: runnable(after),\n' +
        '    frontier: frontierOf(after),\n' +
        '    state,\n' +
        '    ended: false,\n' +
        '    failure: null,\n' +
        '  };',
      replace:
        'return { ready, skip, run: waiting ? [] : runnable(after), frontier: frontierOf(after), state, ended: false, failure: null };',
    },
  },
  {
    id: 'unknown-means-intervention',
    section,
    rule: 'While a node is UNKNOWN the movement is in MANUAL_INTERVENTION.',
    test: { file: WALK, name: 'waits for a person while a node is UNKNOWN' },
    broken: {
      file: THE_WALK,
      find: "const derived = unknown ? 'MANUAL_INTERVENTION' : waiting",
      replace: 'const derived = waiting',
    },
  },
  {
    id: 'failures-start-nothing-new',
    section,
    rule: 'After an unhandled failure nothing new starts; what runs settles, and then the movement is FAILED.',
    test: {
      file: RUNS,
      name: 'stops what has not started, while the other branch runs to its end',
    },
    broken: {
      file: THE_WALK,
      find: 'failure.unhandled.length === 0\n      ?',
      replace: 'failure.unhandled.length >= 0\n      ?',
    },
  },
  {
    id: 'post-actions-come-last',
    section,
    rule: 'post_action nodes run when all others have settled and never change the outcome.',
    test: { file: RUNS, name: 'after everything, post-actions run and never change the outcome' },
    broken: {
      file: 'domain/graph/failure.ts',
      find: "    if (node.node_kind === 'post_action') continue;\n",
      replace: '',
    },
  },
  {
    id: 'compensation-handles-nothing',
    section,
    rule: 'A failure that only a compensation took stays a failure, with the first code.',
    test: { file: RUNS, name: 'is compensated, and the movement still fails with its code' },
    broken: {
      file: 'domain/graph/failure.ts',
      find: "handler.node_kind !== 'compensation' && ",
      replace: '',
    },
  },
  {
    id: 'cancel-stops-unstarted-nodes',
    section,
    rule: 'A cancel sets BLOCKED and READY nodes to CANCELLED at once; the rest runs to a proven outcome.',
    test: {
      file: 'test/http/movement-actions.test.ts',
      name: 'at a gate keeps the reservation of what was done, and leaves out what comes after',
    },
    broken: {
      file: 'domain/commands/cancel.ts',
      find: "node.state === 'READY' || (node.state",
      replace: '(node.state',
    },
  },
  {
    id: 'retry-reopens-what-was-skipped',
    section,
    rule: 'A retry takes only nodes whose failure no edge took, and what was SKIPPED because of it is BLOCKED again.',
    test: { file: RUNS, name: 'a retry brings back what was skipped because of the failure' },
    broken: {
      file: 'domain/commands/retry.ts',
      find: 'new Set(reopened(input, node.node_key))',
      replace: 'new Set<string>()',
    },
  },
  {
    id: 'outputs-feed-amounts',
    section,
    rule: "A node's amount may be what an earlier node really brought, and nothing moves while that is not known.",
    test: { file: RUNS, name: 'what really arrived is what the next node moves' },
    broken: {
      file: 'domain/plan/amount.ts',
      find: '? outputOf(source.node_key)?.[source.field]',
      replace: '? intentAmount',
    },
  },
  {
    id: 'compensation-follows-a-cancel',
    section,
    rule: 'An on_cancel edge fires when its source has settled and its effect landed; else it is dead.',
    test: {
      file: 'test/faults/cancel-compensation.test.ts',
      name: 'runs after a cancel at a gate, once, for the payment that had completed; the reservation stays held',
    },
    broken: {
      file: THE_WALK,
      find: "incoming(node, input.edges, true).some((e) => statuses.get(e) === 'fired')",
      replace: 'incoming(node, input.edges, true).some(() => false)',
    },
  },
  {
    id: 'holds-outlast-a-cancel',
    section,
    rule: 'After a cancel the hold stays while any node that passed its fence is not proven unlanded.',
    test: {
      file: 'test/faults/two-operators.test.ts',
      name: 'of one whose payment is unknown keeps the reservation until somebody has found out, and undoes what landed',
    },
    broken: {
      file: 'domain/commands/cancel.ts',
      find: 'const keeps = spendsOrMaySpend(after);',
      replace: 'const keeps = false;',
    },
  },
  {
    id: 'failed-compensation-can-be-retried',
    section,
    rule: 'A failed compensation of a CANCELLED movement can be retried; the movement stays CANCELLED.',
    test: {
      file: 'test/faults/cancel-compensation.test.ts',
      name: 'that failed can be retried; the movement stays CANCELLED and is undone once',
    },
    broken: {
      file: 'domain/graph/retry.ts',
      find: 'onCancelTargets(input.edges).has(node.node_key)',
      replace: 'onCancelTargets([]).has(node.node_key)',
    },
  },
  {
    id: 'a-cancel-forgets-no-failure-path',
    section,
    rule: 'A compensation whose failure path has started is not retried after a cancel, either.',
    test: {
      file: 'test/domain/graph/walk.test.ts',
      name: 'stays failed once its way out has paid, however soon a cancel follows',
    },
    broken: {
      file: 'domain/graph/retry.ts',
      find: 'if (cancelled && node.brings == null && !isCompensation) return false;',
      replace: 'if (cancelled) return node.brings != null || isCompensation;',
    },
  },
  {
    id: 'executors-get-cancel-requests',
    section,
    rule: 'After a cancel the executors of nodes in flight get a cancel request, and the outcomes are proven.',
    test: {
      file: 'test/faults/cancel-compensation.test.ts',
      name: 'a cancel asks the venue to call back an order that it has not sent yet, and then nothing is undone or held',
    },
    broken: {
      file: 'workflows/movement.ts',
      find: "      if (view.state === 'CANCELLED') run.askToCancel(view);\n",
      replace: '',
    },
  },
];
