/**
 * A burn that no attester signs for, and the mint of it that a person names: what the chain shows
 * completes it, once, and no burn that the mint may not be of.
 */
import { encodePacked, keccak256, toHex, type Hex } from 'viem';
import { claimsOf } from '../../domain/claims.ts';
import { createApi } from '../../api/app.ts';
import { movementRoutes } from '../../api/movements/routes.ts';
import type { MintReader, NamedMint } from '../../domain/bridges/named-mint.ts';
import { ExecutorFault } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { TemplateNode } from '../../domain/plan/types.ts';
import type { Database } from '../../prisma/client.ts';
import { readPhase } from '../../store/phases.ts';
import { dependencies, post, serve } from '../api/support.ts';
import { startStoreBench, type StoreBench } from './support.ts';

/** What a chain shows in each transaction; a fault where it gives no answer. */
const shown = new Map<string, readonly NamedMint[] | ExecutorFault>();
const mints: MintReader = {
  read: (_burn, hash) => {
    const found = shown.get(hash);
    if (found instanceof ExecutorFault) return Promise.reject(found);
    return Promise.resolve(
      found === undefined
        ? { ok: false, reason: 'not_found', problem: 'no block has it' }
        : { ok: true, mints: found },
    );
  },
};

let bench: StoreBench;
let api: Awaited<ReturnType<typeof serve>>;
let unbound: Awaited<ReturnType<typeof serve>>;
/** Before a request asks which burns are open. */
let beforeOpenBurns: () => Promise<unknown> = () => Promise.resolve();
beforeAll(async () => {
  bench = await startStoreBench();
  const deps = { ...dependencies(), db: bench.db };
  const sql: Database['sql'] = async (parts, ...values) => {
    if (parts.join('').includes("claims_when = 'output.attested_message'")) await beforeOpenBurns();
    return bench.db.sql(parts, ...values);
  };
  const db = new Proxy(bench.db, {
    get: (of, name) => (name === 'sql' ? sql : (Reflect.get(of, name) as unknown)),
  });
  api = await serve(createApi({ ...deps, db, mints }, movementRoutes));
  unbound = await serve(createApi(deps, movementRoutes));
});
afterEach(async () => {
  shown.clear();
  beforeOpenBurns = () => Promise.resolve();
  await bench.sql(
    `UPDATE movement_nodes SET state = 'CANCELLED', recover_first = false
      WHERE state <> 'COMPLETED'`,
  );
});
afterAll(async () => {
  await Promise.all([api?.close(), unbound?.close()]);
  await bench?.close();
});

const hashOf = (text: string): Hex => keccak256(toHex(text));
/** A message of this nonce; `terms` stands for all that two burns may differ in. */
const message = (nonce: Hex, terms: string): Hex => {
  const head = encodePacked(['uint32', 'uint32', 'uint32', 'bytes32'], [1, 6, 7, nonce]);
  return `${head}${'00'.repeat(104)}00000001${hashOf(terms).slice(2)}${'00'.repeat(192)}`;
};
const NO_NONCE: Hex = `0x${'0'.repeat(64)}`;
const mintOf = (nonce: string, terms = 'same'): NamedMint => ({
  burn: { attested_message: message(hashOf(nonce), terms), attestation: '0x', mint_tx_hash: nonce },
  mint: { tx_hash: hashOf(`tx ${nonce}`), received_amount: '3', fee_amount: '0' },
});
/** The transaction of a mint that the chain shows. */
function minted(...nonces: readonly string[]): string {
  const hash = hashOf(`tx ${nonces.join()}`);
  shown.set(
    hash,
    nonces.map((nonce) => mintOf(nonce)),
  );
  return hash;
}

const PAYEE = `0x${'a1'.repeat(20)}`;
const burning = (mint_recipient: string): TemplateNode => ({
  node_key: 'burn',
  node_kind: 'action',
  action_type: 'cctp_burn',
  has_side_effect: true,
  config: { mint_recipient },
});
const MINT: TemplateNode = {
  node_key: 'mint',
  node_kind: 'action',
  action_type: 'cctp_mint',
  has_side_effect: true,
  config: { burn_from: 'burn' },
};
const emitted = (terms = 'same'): JsonObject => ({
  message: message(NO_NONCE, terms),
  submitted_amount: '3',
  source_chain_id: 1,
  destination_chain_id: 2,
  mint_recipient: PAYEE,
});

interface Made {
  readonly burn?: string;
  readonly mint?: string;
  readonly output?: JsonObject | null;
  readonly payee?: string;
}

/** A movement of a burn and its mint, in these states. */
async function made(of: Made = {}): Promise<string> {
  const { burn = 'OBSERVING', mint = 'BLOCKED', output = emitted(), payee = PAYEE } = of;
  const { movement_id } = await bench.movement({
    shape: {
      nodes: [burning(payee), MINT],
      edges: [
        {
          from: 'burn',
          to: 'mint',
          edge_type: 'on_success',
          priority: 0,
          join_key: null,
          condition_expr: null,
        },
      ],
    },
  });
  await bench.approve(movement_id);
  await bench.sql(
    `UPDATE movements SET request_state = 'EXECUTING', approval_status = 'approved'
      WHERE movement_id = $1::uuid`,
    movement_id,
  );
  // Longer than is usual.
  await bench.sql(
    `UPDATE movement_nodes SET amount = 3, submitted_at = svc_now() - interval '1 day',
        state = CASE node_key WHEN 'burn' THEN $2 ELSE $3 END,
        output = CASE node_key WHEN 'burn' THEN $4::jsonb END
      WHERE movement_id = $1::uuid`,
    movement_id,
    burn,
    mint,
    output === null ? null : JSON.stringify(output),
  );
  return movement_id;
}

const named = (
  movement_id: string,
  mint_tx_hashes: readonly string[],
  { node = 'burn', url = api.url }: { readonly node?: string; readonly url?: string } = {},
) =>
  post(`${url}/v3/movements/${movement_id}/nodes/${node}/actions/resolve`, {
    outcome: 'completed',
    reason: 'a relayer minted it',
    evidence: { by: 'me' },
    mint_tx_hashes,
  });
const row = async (movement_id: string, node = 'burn') => readPhase(bench.db, movement_id, node);
const unproven = (reason: string, more: object = {}) => ({
  status: 409,
  body: { detail: { error: 'mint_not_proven', reason, ...more } },
});

test('it completes the burn with the message that was taken', async () => {
  const id = await made();
  expect(await named(id, [minted('its own')])).toMatchObject({ status: 200 });
  expect(await row(id)).toMatchObject({
    state: 'COMPLETED',
    output: { ...emitted(), ...mintOf('its own').burn },
  });
});

test('one mint completes one burn', async () => {
  const first = await made();
  const hash = minted('once');
  expect(await named(first, [hash])).toMatchObject({ status: 200 });
  const second = await made();
  expect(await named(second, [hash])).toMatchObject({
    status: 409,
    body: {
      detail: {
        error: 'already_claimed',
        claimed_by: { movement_id: first, node_key: 'burn' },
      },
    },
  });
  expect((await row(second))?.state).toBe('OBSERVING');
  // Of several in one transaction the one that is left.
  expect(await named(second, [minted('once', 'twice')])).toMatchObject({ status: 200 });
  expect((await row(second))?.output).toMatchObject(mintOf('twice').burn);
});

describe('where another burn of the same terms is open', () => {
  test.each<readonly [string, Made]>([
    ['observed', {}],
    ['unknown', { burn: 'UNKNOWN' }],
    ['sent, and its message is not recorded', { burn: 'SUBMITTED', output: null }],
    [
      'under way, to the payee in 32 bytes',
      { burn: 'SUBMITTING', output: null, payee: `0x${'0'.repeat(24)}${PAYEE.slice(2)}` },
    ],
  ])('each has a mint of its own, or neither is completed (%s)', async (what, of) => {
    const [id, other] = [await made(), await made(of)];
    const [one, two] = [minted(`one, ${what}`), minted(`two, ${what}`)];
    const nodes = [{ movement_id: other, node_key: 'burn' }];
    expect(await named(id, [one])).toMatchObject(unproven('ambiguous', { nodes }));
    expect(await named(id, [one, one])).toMatchObject(unproven('ambiguous'));
    expect((await row(id))?.state).toBe('OBSERVING');
    expect(await named(id, [one, two])).toMatchObject({ status: 200 });
  });

  test('one that was restored counts, since it may have been sent', async () => {
    const [id, other] = [await made(), await made({ burn: 'READY', output: null })];
    await bench.sql(
      `UPDATE movement_nodes SET recover_first = true WHERE movement_id = $1::uuid AND node_key = 'burn'`,
      other,
    );
    expect(await named(id, [minted('restored')])).toMatchObject(unproven('ambiguous'));
  });

  test('one that a person abandoned counts for a week, and for a week after it was seen', async () => {
    const [id, other] = [await made(), await made()];
    const abandoned = (ago: string, landed: string | null = null) =>
      bench.sql(
        `UPDATE movement_nodes SET state = 'FAILED', error_code = 'ABANDONED',
          completed_at = svc_now() - $2::interval, landed_late_at = svc_now() - $3::interval
        WHERE movement_id = $1::uuid AND node_key = 'burn'`,
        other,
        ago,
        landed,
      );
    const hash = minted('beside an abandoned one');
    await abandoned('6 days');
    expect(await named(id, [hash])).toMatchObject(unproven('ambiguous'));
    await abandoned('9 days', '6 days');
    expect(await named(id, [hash])).toMatchObject(unproven('ambiguous'));
    await abandoned('9 days', '8 days');
    expect(await named(id, [hash])).toMatchObject({ status: 200 });
  });

  test('one that is completed at that moment leaves its mint to no other', async () => {
    const [id, ended] = [await made(), await made()];
    await made();
    const { burn } = mintOf('of the ended');
    beforeOpenBurns = async () => {
      const [claim] = claimsOf({ action_type: 'cctp_burn', output: burn, matched: null });
      await bench.sql(
        `INSERT INTO payments VALUES ($1, $2, 1, 1, svc_now())`,
        claim!.source,
        claim!.reference,
      );
      await bench.sql(
        `INSERT INTO payment_claims VALUES ($1, $2, $3::uuid, 'burn', 1, NULL, svc_now())`,
        claim!.source,
        claim!.reference,
        ended,
      );
      await bench.sql(
        `UPDATE movement_nodes SET state = 'COMPLETED', output = output || $2::jsonb
          WHERE movement_id = $1::uuid AND node_key = 'burn'`,
        ended,
        JSON.stringify(burn),
      );
    };
    const hashes = [minted('of the third'), minted('of the ended')];
    expect(await named(id, hashes)).toMatchObject(unproven('ambiguous'));
    expect((await row(id))?.state).toBe('OBSERVING');
  });

  test('one of other terms, or that was never sent, does not count', async () => {
    const id = await made();
    await made({ output: emitted('others') });
    await made({ burn: 'READY', output: null });
    await made({ burn: 'SUBMITTED', output: null, payee: `0x${'b2'.repeat(20)}` });
    expect(await named(id, [minted('alone')])).toMatchObject({ status: 200 });
  });
});

describe('nothing is written', () => {
  test('of what the chain does not show', async () => {
    const id = await made();
    const tx_hash = hashOf('nowhere');
    expect(await named(id, [tx_hash])).toMatchObject(unproven('not_found', { tx_hash }));
    // One that is right does not make up for one that is not.
    expect(await named(id, [minted('right'), tx_hash])).toMatchObject(unproven('not_found'));
    expect((await row(id))?.state).toBe('OBSERVING');
  });

  test('where the chain gives no answer, or none is bound', async () => {
    const id = await made();
    const hash = minted('unread');
    const unavailable = { status: 503, body: { detail: { error: 'venue_unavailable' } } };
    expect(await named(id, [hash], { url: unbound.url })).toMatchObject(unavailable);
    shown.set(hash, new ExecutorFault('unreachable', 'RPC_UNREACHABLE', 'no answer'));
    expect(await named(id, [hash])).toMatchObject(unavailable);
    expect((await row(id))?.state).toBe('OBSERVING');
  });

  test('of a burn that is observed for no longer than usual', async () => {
    const id = await made();
    await bench.sql(
      'UPDATE movement_nodes SET submitted_at = svc_now() WHERE movement_id = $1::uuid',
      id,
    );
    expect(await named(id, [minted('early')])).toMatchObject({
      status: 409,
      body: { detail: { error: 'invalid_state' } },
    });
  });
});

test('what its mint goes by has to be recorded, too', async () => {
  const { submitted_amount: _unrecorded, ...output } = emitted();
  const id = await made({ output });
  expect(await named(id, [minted('unrecorded')])).toMatchObject({
    status: 422,
    body: { detail: { error: 'resolution_incomplete', missing: 'output.submitted_amount' } },
  });
  expect((await row(id))?.state).toBe('OBSERVING');
});

describe('a mint whose burn was completed', () => {
  const of = async (nonce: string) => {
    const { burn } = mintOf(nonce);
    return made({ burn: 'COMPLETED', mint: 'UNKNOWN', output: { ...emitted(), ...burn } });
  };

  test('is completed by the transaction that brought its own message', async () => {
    const id = await of('own');
    expect(await named(id, [minted('of another')], { node: 'mint' })).toMatchObject(
      unproven('another_message'),
    );
    expect((await row(id, 'mint'))?.state).toBe('UNKNOWN');
    expect(await named(id, [minted('of another', 'own')], { node: 'mint' })).toMatchObject({
      status: 200,
    });
    expect(await row(id, 'mint')).toMatchObject({ state: 'COMPLETED', output: mintOf('own').mint });
  });
});
