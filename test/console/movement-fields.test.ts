/**
 * Every field of the answers that the movement page reads is shown without a click, or stands in
 * the list of hidden ones with a reason. The answers are made from the schemas of the API, a value
 * for each field that stands nowhere else.
 */
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import type { z } from 'zod';
import { movementGraph } from '../../api/graphs/schema.ts';
import { detailResponse, timelineResponse } from '../../api/movements/responses.ts';
import type { MovementData } from '../../console/pages/movement/data.ts';
import { FormFields } from '../../console/pages/movement/parts/form-fields.tsx';
import type { Graph, Movement, Timeline } from '../../console/pages/movement/model/answers.ts';
import type { PlanReading } from '../../console/pages/movement/model/plan.ts';
import { WHY_NOT } from '../../domain/approval/rule.ts';
import { mayApproveSentence } from '../../domain/approval/why-not.ts';
import { answerFor, isIn, type Leaf } from './answers.ts';
import * as make from './movement-fixtures.ts';

const BY_PLAN = 'the same is shown from the bytes of the plan, which is what an approval binds';
const BY_CODE = 'its code, problem and cooling say the same, and are shown';

/** By answer and path; every entry is missed if it goes. */
const HIDDEN: Readonly<Record<string, string>> = {
  'movement.template_key': 'stands in `template`, too',
  'movement.template_version': 'stands in `template`, too',
  'movement.template.template_id': 'the key and version name it',
  'movement.outflow[].asset': BY_PLAN,
  'movement.outflow[].amount': BY_PLAN,
  'movement.attention_reason': 'stands in `attention`, too',
  'movement.attention.actions[].attempt': 'stands in what is signed, once the sheet is open',
  'movement.attention.actions[].state': 'stands in what is signed, once the sheet is open',
  'movement.attention.actions[].outcomes[]': 'the consequence says them; the sheet offers them',
  'movement.attention.actions[].claim_places[]':
    'the consequence says them; the sheet has a field for each',
  'movement.artifacts[].artifact_id': 'names nothing that a person looks for',
  'movement.review.sends[].node_key': BY_PLAN,
  'movement.review.sends[].action_type': BY_PLAN,
  'movement.review.sends[].asset': BY_PLAN,
  'movement.review.sends[].amount': BY_PLAN,
  'movement.review.sends[].payees[].allowed': BY_CODE,
  'movement.review.sends[].payees[].usable_after': 'shown where its code says that it cools',
  'movement.review.sends[].payees[].code': 'a sentence of its own stands for each code',
  'movement.review.sends[].payees[].chain_family': 'said where there is no chain to name',
  'movement.review.limits[].ok': 'a word of its own stands for each value',
  'movement.review.balances[].stale': 'a word of its own stands for it',
  'movement.approvals.decisions[].decision': 'a word of its own stands for it',
  'movement.approvals.decisions[].counts': 'a word of its own stands for it',
  'movement.approvals.decisions[].evidence': 'words of their own stand for each value',
  'movement.approvals.you.may': 'a sentence of its own stands for it',
  'movement.approvals.you.evidence': 'a sentence of its own stands for `passkey`',
  'movement.approvals.you.approved': 'it decides whether a withdrawal is offered',
  'graph.movement_id': 'stands in the movement, too',
  'graph.request_state': 'stands in the movement, too',
  'graph.template_key': 'stands in the movement, too',
  'graph.template_version': 'stands in the movement, too',
  'graph.nodes[].node_kind': 'its outline says it, and the list of nodes in a word',
  'graph.nodes[].error_code': 'stands at the node of the movement, too',
  'graph.nodes[].executor_key': 'stands at the node of the movement, too',
  'graph.nodes[].signer_key': 'stands at the node of the movement, too',
  'timeline[].event_id': 'its place in the timeline names it',
  ...Object.fromEntries(
    [
      'venue',
      'account_type',
      'destination_venue',
      'destination_account_type',
      'sub_account_address',
      'chain_id',
      'destination_chain_id',
      'token_address',
      'amount_ref',
      'burn_from',
      'network',
      'tag',
      'max_fee',
      'finality',
      'destination_caller',
    ].map((term) => [`movement.review.sends[].${term}`, BY_PLAN]),
  ),
};

async function htmlOf(data: MovementData, movement: Movement): Promise<string> {
  // Its modules look where they run when they are loaded.
  Object.assign(globalThis, { location: { origin: 'http://localhost' } });
  const { MovementView } = await import('../../console/pages/movement/page.tsx');
  const operator = { operator: 'ada', role: 'operator' };
  return renderToStaticMarkup(
    createElement(MovementView, { movement, data, operator, behind: null }),
  );
}

const errors = { movement: null, graph: null, timeline: null, plan: null, rows: null };
const look = (): never => {
  throw new Error('not in this test');
};

function madeAnswers() {
  const leaves: Leaf[] = [];
  const made = (schema: z.ZodType, name: string): unknown => {
    const { answer, leaves: own } = answerFor(schema, name);
    leaves.push(...own);
    return answer;
  };
  const movement = made(detailResponse, 'movement') as Movement;
  const graph = made(movementGraph, 'graph') as Graph;
  const timeline = made(timelineResponse, 'timeline') as Timeline;
  const key = movement.nodes[0]?.node_key ?? '';
  const [edge] = graph.edges;
  const payee = movement.review?.sends[0]?.payees[0];
  const plan: PlanReading = {
    status: 'agrees',
    text: '{"plan":1}',
    hash: movement.compiled_plan_hash,
    plan: make.plan({ nodes: [make.planNode({ node_key: key })] }),
  };
  return {
    leaves,
    movement: {
      ...movement,
      workflow: { ...movement.workflow, ui_url: 'https://temporal.example/run' },
      review: {
        ...movement.review,
        sends: [{ ...movement.review?.sends[0], node_key: key, payees: [payee] }],
      },
    } as Movement,
    // Its edges name its nodes.
    graph: {
      ...graph,
      nodes: [
        { ...graph.nodes[0], node_key: edge?.from },
        { ...graph.nodes[0], node_key: edge?.to },
        ...graph.nodes,
      ],
    } as Graph,
    timeline,
    plan,
  };
}

test('every field is shown, or is hidden for a reason', async () => {
  const { leaves, movement, graph, timeline, plan } = madeAnswers();
  expect(leaves.length).toBeGreaterThan(120);
  const html = await htmlOf({ movement, graph, timeline, plan, rows: [], errors, look }, movement);
  const missing = leaves.filter(({ value }) => !isIn(html, value)).map(({ path }) => path);
  const own = new Set(['movement.workflow.ui_url']);
  expect(missing.filter((path) => !(path in HIDDEN) && !own.has(path))).toEqual([]);
  // Where the address is replaced by one that can be followed.
  expect(html).toContain('href="https://temporal.example/run"');
});

test('a plan that sends nothing shows what its gates say', async () => {
  const { movement, graph, timeline, plan } = madeAnswers();
  const config = { description: 'Call the desk.' };
  const gate = make.planNode({ node_kind: 'manual_gate', sends: false, config });
  const gates = make.plan({ nodes: [gate] });
  const data = { movement, graph, timeline, rows: [], errors, look };
  const html = await htmlOf({ ...data, plan: { ...plan, plan: gates } }, movement);
  expect(html).toContain('Call the desk.');
});

test('it says whether you may approve, and which approval no longer counts', async () => {
  const { movement, graph, timeline, plan } = madeAnswers();
  const approvals = movement.approvals!;
  const decisions = approvals.decisions.map((each) => ({ ...each, counts: false }));
  const data = { movement, graph, timeline, plan, rows: [], errors, look };
  for (const why_not of [null, ...WHY_NOT]) {
    const you = { ...approvals.you, may: why_not === null, why_not };
    const html = await htmlOf(data, { ...movement, approvals: { ...approvals, decisions, you } });
    expect(html).toContain(mayApproveSentence(why_not));
    expect(html).toContain('no longer counts');
  }
  expect(await htmlOf(data, movement)).not.toContain('no longer counts');
});

test('hidden are only fields that there are', () => {
  const { leaves } = madeAnswers();
  const paths = new Set(leaves.map(({ path }) => path));
  expect(Object.keys(HIDDEN).filter((path) => !paths.has(path))).toEqual([]);
});

test('a resolve has a field for what is on offer, and for what may name what completed it', () => {
  const labels = (more: object, outcome: 'completed' | 'abandoned' = 'completed') => {
    const node = { node_key: 'pay', attempt: 1, state: 'UNKNOWN' } as const;
    const choice = { verb: 'resolve', node, consequence: '', reason: null, ...more } as const;
    const filled = { approver_id: 'ada', reason: '', outcome };
    const form = renderToStaticMarkup(
      createElement(FormFields, { choice, filled, onChange: () => undefined }),
    );
    return ['Completed:', 'Failed:', 'Abandoned:', 'Output as a JSON object', 'Of a burn:'].filter(
      (label) => form.includes(label),
    );
  };
  const outcomes = ['completed', 'abandoned'];
  const both = ['Completed:', 'Abandoned:'];
  const places = (...claim_places: readonly string[]) => ({ outcomes, claim_places });
  expect(labels(places())).toEqual(both);
  expect(labels(places('output.payments'))).toEqual([...both, 'Output as a JSON object']);
  expect(labels(places('mint_tx_hashes'))).toEqual([...both, 'Of a burn:']);
  const burn = places('output.message and output.attestation', 'mint_tx_hashes');
  expect(labels(burn)).toEqual([...both, 'Output as a JSON object', 'Of a burn:']);
  expect(labels(burn, 'abandoned')).toEqual(both);
  expect(labels({ outcomes: ['abandoned'], claim_places: [] }, 'abandoned')).toEqual([
    'Abandoned:',
  ]);
  // A service of the release before names neither.
  expect(labels({})).toEqual(['Completed:', 'Failed:', 'Abandoned:', 'Of a burn:']);
});

test('text of others is text, marked where it hides something, and never markup', async () => {
  const { movement, graph, timeline, plan } = madeAnswers();
  const hostile = `<img src=x onerror=alert(1)>\u202egnp.exe\u200b${'x'.repeat(10_000)}`;
  const node = { ...movement.nodes[0], error_message: hostile, output: { [hostile]: hostile } };
  const html = await htmlOf(
    { movement, graph, timeline, plan, rows: [make.row({ label: hostile })], errors, look },
    { ...movement, error_message: hostile, labels: { a: hostile }, nodes: [node] } as Movement,
  );
  expect(html).not.toContain('<img');
  expect(html).not.toMatch(/[\u202e\u200b]/);
  expect(html).toContain('U+202E');
  expect(html).toContain('U+200B');
  expect(html).not.toContain('x'.repeat(3_000));
});

test('without a plan that agrees no payee, amount or action of it is shown', async () => {
  const { movement, graph, timeline } = madeAnswers();
  const plan: PlanReading = { status: 'differs', text: '{}', hash: 'aa', problem: 'It differs.' };
  const html = await htmlOf({ movement, graph, timeline, plan, rows: [], errors, look }, movement);
  expect(html).toContain('the plan cannot be believed');
  expect(html).not.toContain('Who is paid');
  expect(
    [...html.matchAll(/<button[^>]*aria-disabled="false"[^>]*>([^<]*)/g)].map(([, name]) => name),
  ).toEqual([]);
});
