/** Proposals as the database holds them: one decision at a time, one end, and no second version. */
import { graphShape } from '../../domain/graph/shape.ts';
import type { AuditEntry } from '../../domain/transition.ts';
import { issueKey } from '../../store/keys.ts';
import {
  createProposal,
  expireDue,
  promoteProposal,
  readGrant,
  readProposal,
  type NewProposal,
  type Promotion,
} from '../../store/proposals.ts';
import { createTemplate } from '../../store/templates.ts';
import { storeBench } from './support.ts';

const bench = storeBench();

const LIMITS = {
  max_notional: '100',
  allowed_assets: ['USDC'],
  allowed_chains: ['near'],
  max_ttl_seconds: 60,
};
const row = (action: AuditEntry['action']): AuditEntry => ({
  action,
  entity_type: 'test',
  entity_key: 'test',
  outcome: 'success',
});

async function authority(authority_key: string, max_notional = '100'): Promise<void> {
  const outcome = await issueKey(bench.db, {
    client_name: 'agents',
    key_id: `${authority_key}-${max_notional}`,
    role: 'agent',
    sealed_secret: Buffer.from('x'),
    cert_fingerprint: null,
    replace: true,
    authority: { authority_key, ...LIMITS, max_notional },
    audit: [row('api_key.issue')],
    authority_audit: {
      create: [row('agent_authority.create')],
      update: [row('agent_authority.update')],
    },
  });
  expect(outcome.ok).toBe(true);
}

function promotion(of: string, max_amount: string): Promotion {
  const graph = { nodes: [], edges: [] };
  const template_key = `agent/${of}/way`;
  return {
    reasons: [],
    template_key,
    max_amount,
    plan_digest: 'one plan',
    template: {
      template_key,
      ...graph,
      graph_shape: graphShape(graph),
      name: 'A way',
      owner: null,
      approval_policy: {},
      risk_controls: { max_amount },
      created_by: null,
      completion_policy: { completion_assurance: 'provider_completed' },
      audit: () => [row('plan_template.create')],
    },
  };
}

const drafted = (of: string, more: Partial<NewProposal> = {}): NewProposal => ({
  authority_key: of,
  proposal_kind: 'ephemeral',
  asset: 'USDC',
  requested_notional: '5',
  ttl_seconds: 60,
  request: { source_chain: 'near', destination_chain: 'far' },
  bridge_attempt: false,
  client_scope: 'c',
  idempotency_key: null,
  created_by: {},
  decided: { status: 'submitted', reasons: ['ttl_exceeded'], problem: null },
  limits: LIMITS,
  audit: () => [row('template_proposal.create')],
  ...more,
});

async function created(draft: NewProposal) {
  const made = await createProposal(bench.db, draft);
  if (made.outcome !== 'created') throw new Error(made.outcome);
  return made.row;
}

const promoted = (of: string, id: string, amount = '5') =>
  promoteProposal(
    bench.db,
    { proposal_id: id, authority_key: of },
    { ...promotion(of, amount), limits: LIMITS, audit: row('template_proposal.promote') },
  );
const audited = (action: string) =>
  bench.sql<{ count: number }>(
    `SELECT count(*)::integer AS count FROM audit_events WHERE action = '${action}'`,
  );

test('what was decided by other limits is not written', async () => {
  await authority('lowered');
  await authority('lowered', '4');
  const decided = { status: 'auto_promoted', ...promotion('lowered', '5') } as const;
  expect(await createProposal(bench.db, drafted('lowered', { decided }))).toEqual({
    outcome: 'outdated',
  });
  const limits = { ...LIMITS, max_notional: '4' };
  const { proposal_id } = await created(drafted('lowered', { limits }));
  expect(await promoted('lowered', proposal_id)).toEqual({ outcome: 'outdated' });
  expect(await audited('agent_authority.update')).toEqual([{ count: 1 }]);
});

test('a promotion that comes too late writes that the time was over', async () => {
  await authority('late');
  const { proposal_id } = await created(drafted('late', { ttl_seconds: 0 }));
  const before = await audited('template_proposal.expire');
  expect(await promoted('late', proposal_id)).toMatchObject({
    outcome: 'not_submitted',
    row: { status: 'expired', template_key: null },
  });
  const [after] = await audited('template_proposal.expire');
  expect(after?.count).toBe((before[0]?.count ?? 0) + 1);
});

test('an overlooked one is found when it is read, and by a worker', async () => {
  await authority('unread');
  const first = await created(drafted('unread', { ttl_seconds: 0 }));
  expect(await readProposal(bench.db, first.proposal_id)).toMatchObject({ status: 'expired' });
  const second = await created(drafted('unread', { ttl_seconds: 0 }));
  const open = await created(drafted('unread'));
  expect(await expireDue(bench.db)).toBe(1);
  expect(await readProposal(bench.db, second.proposal_id)).toMatchObject({ status: 'expired' });
  const named = JSON.stringify([{ proposal_id: open.proposal_id, audit: [] }]);
  expect(await bench.sql(`SELECT expire_proposals($1::jsonb) AS ended`, named)).toEqual([
    { ended: 0 },
  ]);
  expect(await readProposal(bench.db, open.proposal_id)).toMatchObject({ status: 'submitted' });
});

test('an end is written once, whoever is quicker, and nothing leaves it', async () => {
  await authority('ends');
  const open = await Promise.all(
    Array.from({ length: 20 }, () => created(drafted('ends', { ttl_seconds: 0 }))),
  );
  await Promise.all(
    open.flatMap(({ proposal_id }) => [
      expireDue(bench.db),
      promoted('ends', proposal_id),
      expireDue(bench.db),
    ]),
  );
  const ends = await bench.sql<{ status: string; rows: number }>(
    `SELECT p.status, count(*)::integer AS rows FROM template_proposals p
     WHERE authority_key = 'ends' GROUP BY p.status`,
  );
  expect(ends).toEqual([{ status: 'expired', rows: 20 }]);
  await expect(
    bench.sql(`UPDATE template_proposals SET status = 'submitted' WHERE authority_key = 'ends'`),
  ).rejects.toThrow(/has ended stays as it is/);
});

test('versions of one plan are never two for one amount, whoever else registers some', async () => {
  await authority('many');
  const one = (amount: string) => {
    const decided = { status: 'auto_promoted', ...promotion('many', amount) } as const;
    return created(drafted('many', { requested_notional: amount, decided }));
  };
  const others = [1, 2, 3].map((version) => {
    const { template } = promotion('many', '5');
    return createTemplate(bench.db, { ...template, version });
  });
  await Promise.all([...Array.from({ length: 30 }, () => one('5')), ...others]);
  const versions = await bench.sql<{ template_version: number }>(
    `SELECT DISTINCT template_version FROM template_proposals WHERE authority_key = 'many'`,
  );
  expect(versions).toHaveLength(1);
  const larger = await one('7');
  expect(larger.template_version).not.toBe(versions[0]?.template_version);
  expect((await one('6')).template_version).toBe(larger.template_version);
});

test('only what an administrator has promoted is granted, and no more than that', async () => {
  await authority('granted');
  const decided = { status: 'auto_promoted', ...promotion('granted', '50') } as const;
  await created(drafted('granted', { requested_notional: '50', decided }));
  const [version] = await bench.sql<{ template_id: string }>(
    `SELECT template_id FROM template_proposals WHERE authority_key = 'granted'`,
  );
  const id = version?.template_id ?? '';
  expect(await readGrant(bench.db, id)).toBeNull();
  // It is a use of the same version, which covers more than what was promoted now.
  const open = await created(drafted('granted'));
  expect(await promoted('granted', open.proposal_id)).toMatchObject({ outcome: 'promoted' });
  expect(await readGrant(bench.db, id)).toEqual({
    asset: 'USDC',
    amount: '5',
    chains: ['near', 'far'],
  });
});
