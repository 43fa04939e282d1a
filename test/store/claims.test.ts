/** What has arrived completes one node, whoever says so and how often. */
import { pino } from 'pino';
import { encodePacked, keccak256, toHex, type Hex } from 'viem';
import { createApi } from '../../api/app.ts';
import { movementRoutes } from '../../api/movements/routes.ts';
import type { PhaseDependencies } from '../../activities/phases/context.ts';
import { observe } from '../../activities/phases/observe.ts';
import { recover } from '../../activities/phases/recover.ts';
import { submit } from '../../activities/phases/submit.ts';
import { ACTION_NAMES } from '../../domain/actions/spec.ts';
import type { MintReader } from '../../domain/bridges/named-mint.ts';
import type { ClaimReader } from '../../domain/claim-reader.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import { readPhase } from '../../store/phases.ts';
import { applyTransition } from '../../store/transition.ts';
import { createEvmChains } from '../../venues/evm/client.ts';
import { createEvmSigning } from '../../venues/evm/signing.ts';
import { dependencies, post, serve } from '../api/support.ts';
import { storeBench } from './support.ts';
import { started } from '../support/started.ts';

const bench = storeBench();
/** Sources that show whatever is named; `test/store/named-claims.test.ts` has real ones. */
const claims: readonly ClaimReader[] = [
  {
    action_types: ACTION_NAMES,
    venues: null,
    read: ({ output }) => Promise.resolve({ ok: true, output }),
  },
];
const mints: MintReader = {
  read: ({ output }, tx_hash) =>
    Promise.resolve({ ok: true, mints: [{ burn: output, mint: { tx_hash } }] }),
};
const api = started(() =>
  serve(createApi({ ...dependencies(), db: bench.db, claims, mints }, movementRoutes)),
);

/** A message of this source domain and nonce; nothing else of it is of interest here. */
const message = (domain: number, nonce: string): Hex => {
  const head = encodePacked(['uint32', 'uint32', 'uint32'], [1, domain, 7]);
  const rest = `${'00'.repeat(104)}00000001${'00'.repeat(224)}`;
  return `${head}${keccak256(toHex(nonce)).slice(2)}${rest}`;
};

const node = (node_key: string, action_type: string, config: JsonObject = {}): TemplateNode => ({
  node_key,
  node_kind: 'action',
  action_type,
  has_side_effect: true,
  config,
});
const BURN = node('burn', 'cctp_burn');
const MINT = node('mint', 'cctp_mint', { burn_from: 'burn' });
const DEPOSIT = node('deposit', 'perp_deposit');
const SEND = node('send', 'bridge_c_send');
const ARRIVE: TemplateNode = {
  ...node('arrive', 'bridge_c_observe', { match_from: 'send' }),
  node_kind: 'observe',
};
const packet = (guid: string): JsonObject => ({ guid: keccak256(toHex(guid)), nonce: '1' });

/** A movement whose nodes follow each other; each is in its state and has put this out. */
async function under(
  ...of: readonly (readonly [TemplateNode, string, JsonObject?])[]
): Promise<string> {
  const { movement_id } = await bench.movement({
    shape: {
      nodes: of.map(([each]) => each),
      edges: of.slice(1).map(([to], before) => ({
        from: of[before]?.[0].node_key ?? '',
        to: to.node_key,
        edge_type: 'on_success',
        priority: 0,
        join_key: null,
        condition_expr: null,
      })),
    },
  });
  await bench.approve(movement_id);
  const unknown = of.some(([, state]) => state === 'UNKNOWN');
  await bench.sql(
    `UPDATE movements SET request_state = $2, approval_status = 'approved'
      WHERE movement_id = $1::uuid`,
    movement_id,
    unknown ? 'MANUAL_INTERVENTION' : 'EXECUTING',
  );
  for (const [{ node_key }, state, output] of of)
    await bench.sql(
      `UPDATE movement_nodes SET state = $3, amount = 3, submitted_at = svc_now(), output = $4::jsonb
        WHERE movement_id = $1::uuid AND node_key = $2`,
      movement_id,
      node_key,
      state,
      output === undefined ? null : JSON.stringify(output),
    );
  return movement_id;
}

const stateOf = async (movement_id: string, node_key: string): Promise<string> =>
  (await readPhase(bench.db, movement_id, node_key))?.state ?? '';

const phases = { submit, observe, recover };

/** The state of the node once its executor has said to this phase that it is completed. */
async function said(
  phase: keyof typeof phases,
  movement_id: string,
  node_key: string,
  output: JsonObject,
  more: { readonly from_unknown?: boolean } = {},
): Promise<string> {
  const deps: PhaseDependencies = {
    db: bench.db,
    log: pino({ level: 'silent' }),
    chains: [],
    executors: { get: () => undefined, describe: () => undefined },
    signers: { get: () => undefined },
    signing: createEvmSigning(createEvmChains([])),
  };
  const row = await readPhase(bench.db, movement_id, node_key);
  if (row === null) throw new Error('there is no such node');
  const answer = { next_state: 'COMPLETED', output } as const;
  // What must be read again is thrown.
  await phases[phase]
    .finish(deps, { movement_id, node_key, attempt: 1, ...more }, row, { answer })
    .catch(() => null);
  return stateOf(movement_id, node_key);
}

/** What a caller is answered who says over HTTP that the node is completed. */
const resolved = (
  movement_id: string,
  node_key: string,
  output?: JsonObject,
  mint_tx_hashes?: readonly string[],
) =>
  post(`${api.url}/v3/movements/${movement_id}/nodes/${node_key}/actions/resolve`, {
    outcome: 'completed',
    reason: 'seen on the explorer',
    evidence: { by: 'me' },
    ...(output === undefined ? {} : { output }),
    ...(mint_tx_hashes === undefined ? {} : { mint_tx_hashes }),
  });
const HASH = `0x${'77'.repeat(32)}`;

/** All that a mint goes by. */
const burnt = (nonce: string): JsonObject => ({
  message: message(6, ''),
  attested_message: message(6, nonce),
  attestation: '0x01',
  submitted_amount: '3',
  source_chain_id: 1,
  destination_chain_id: 2,
  mint_recipient: '0x01',
});

const taken = (movement_id: string, node_key: string) => ({
  status: 409,
  body: { detail: { error: 'already_claimed', claimed_by: { movement_id, node_key } } },
});

describe('a person who resolves as completed', () => {
  test('does not complete a second burn with the mint of another', async () => {
    const [first, second] = [await under([BURN, 'OBSERVING'], [MINT, 'BLOCKED']), await waiting()];
    expect(await said('observe', first, 'burn', burnt('one mint'))).toBe('COMPLETED');
    expect(await resolved(second, 'burn', burnt('one mint'))).toMatchObject(taken(first, 'burn'));
    expect(await stateOf(second, 'burn')).toBe('UNKNOWN');
    // Nothing of the refused word is left.
    expect(await resolved(second, 'burn', burnt('its own'))).toMatchObject({ status: 200 });
    expect(await stateOf(second, 'burn')).toBe('COMPLETED');
  });

  const waiting = () => under([BURN, 'UNKNOWN'], [MINT, 'BLOCKED']);

  test('does not complete two mints with one', async () => {
    const mints = (nonce: string) => under([BURN, 'COMPLETED', burnt(nonce)], [MINT, 'UNKNOWN']);
    const [first, second] = [await mints('minted once'), await mints('minted once')];
    const minted = (id: string) => resolved(id, 'mint', undefined, [HASH]);
    expect(await minted(first)).toMatchObject({ status: 200 });
    expect(await minted(second)).toMatchObject(taken(first, 'mint'));
  });

  test('does not complete two sends, or two arrivals, with one packet', async () => {
    const sends = () => under([SEND, 'UNKNOWN'], [ARRIVE, 'BLOCKED']);
    const output = {
      ...{ packet: packet('a'), destination_chain_id: 2, destination_address: '0x01' },
      tx_hash: HASH,
    };
    const [first, second] = [await sends(), await sends()];
    expect(await resolved(first, 'send', output)).toMatchObject({ status: 200 });
    expect(await resolved(second, 'send', output)).toMatchObject(taken(first, 'send'));
    const arrives = () => under([SEND, 'COMPLETED', output], [ARRIVE, 'UNKNOWN']);
    const [one, other] = [await arrives(), await arrives()];
    const delivered = { tx_hash: HASH };
    expect(await resolved(one, 'arrive', delivered)).toMatchObject({ status: 200 });
    expect(await resolved(other, 'arrive', delivered)).toMatchObject(taken(one, 'arrive'));
  });

  test('does not complete two deposits with one row of the ledger, whoever says so', async () => {
    const [first, second] = [
      await under([DEPOSIT, 'OBSERVING']),
      await under([DEPOSIT, 'UNKNOWN']),
    ];
    const credited = { ledger_account: '0xAA', ledger_hash: `0x${'Ab'.repeat(32)}` };
    const elsewhere = { ...credited, ledger_account: '0xbb' };
    expect(await said('observe', first, 'deposit', credited)).toBe('COMPLETED');
    const lower = { ledger_account: '0xaa', ledger_hash: credited.ledger_hash.toLowerCase() };
    expect(await resolved(second, 'deposit', lower)).toMatchObject(taken(first, 'deposit'));
    expect(await resolved(second, 'deposit', elsewhere)).toMatchObject(taken(first, 'deposit'));
    for (const unnamed of [undefined, {}, { ledger_account: '0xaa' }])
      expect(await resolved(second, 'deposit', unnamed)).toMatchObject({
        status: 422,
        body: { detail: { error: 'claim_missing', missing: ['output.ledger_hash'] } },
      });
    const third = await under([DEPOSIT, 'OBSERVING']);
    expect(await said('observe', third, 'deposit', lower)).toBe('OBSERVING');
    expect((await readPhase(bench.db, third, 'deposit'))?.error_code).toBe('ALREADY_CLAIMED');
    const other = { ...lower, ledger_hash: `0x${'cd'.repeat(32)}` };
    expect(await resolved(second, 'deposit', other)).toMatchObject({ status: 200 });
  });

  test('has to say what it was completed with', async () => {
    const unread = await under([BURN, 'COMPLETED', { tx_hash: '0x01' }], [MINT, 'UNKNOWN']);
    for (const hashes of [undefined, [HASH]])
      expect(await resolved(unread, 'mint', undefined, hashes)).toMatchObject({
        status: 422,
        body: { detail: { error: 'claim_missing' } },
      });
    expect(await stateOf(unread, 'mint')).toBe('UNKNOWN');
  });
});

test.each([
  ['submit', 'SUBMITTING', {}],
  ['observe', 'OBSERVING', {}],
  ['recover', 'SUBMITTING', {}],
  ['recover', 'UNKNOWN', { from_unknown: true }],
] as const)('a burn is completed by %s, in %s, with no message of another', async (...of) => {
  const [phase, from, more] = of;
  const bytes = message(6, `${phase} ${from}`);
  const burn = () => under([BURN, from]);
  const first = await burn();
  expect(await said(phase, first, 'burn', { attested_message: bytes }, more)).toBe('COMPLETED');
  const upper = `0x${bytes.slice(2).toUpperCase()}`;
  for (const same of [bytes, upper])
    expect(await said(phase, await burn(), 'burn', { attested_message: same }, more)).toBe(from);
  // Of another chain the same nonce is another message.
  const elsewhere = message(5, `${phase} ${from}`);
  expect(await said(phase, await burn(), 'burn', { attested_message: elsewhere }, more)).toBe(
    'COMPLETED',
  );
});

test('one of many that complete at once has it', async () => {
  const output = { attested_message: message(6, 'at once') };
  const burns = await Promise.all(Array.from({ length: 8 }, () => under([BURN, 'OBSERVING'])));
  const states = await Promise.all(burns.map((each) => said('observe', each, 'burn', output)));
  expect(states.filter((each) => each === 'COMPLETED')).toHaveLength(1);
  expect(
    await bench.sql('SELECT 1 FROM payment_claims WHERE movement_id = ANY($1::uuid[])', burns),
  ).toHaveLength(1);
});

test('what a node waits for that arrives is claimed, or the write is refused', async () => {
  const completes = async (movement_id: string, node_key: string, set: object) => {
    const outcome = await applyTransition(bench.db, {
      movement_id,
      nodes: [{ node_key, from: 'OBSERVING', moves: ['COMPLETED'], set }],
      timeline: [],
    });
    return outcome.ok ? null : outcome.reason;
  };
  const attested = { attested_message: message(6, 'no claim') };
  const mint = await under([BURN, 'COMPLETED', attested], [MINT, 'OBSERVING']);
  expect(await completes(mint, 'mint', {})).toBe('claim_missing');
  const burn = await under([BURN, 'OBSERVING']);
  expect(await completes(burn, 'burn', { output: attested })).toBe('claim_missing');
  expect([await stateOf(mint, 'mint'), await stateOf(burn, 'burn')]).toEqual(
    Array<string>(2).fill('OBSERVING'),
  );
  // What rests on nothing that arrives needs no claim.
  expect(await completes(burn, 'burn', { output: {} })).toBeNull();
});
