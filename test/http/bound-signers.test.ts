/**
 * A signer that is switched off, or is not the one that was pinned, after the approval: nothing is
 * signed, and nothing sent.
 */
import { createPublicClient, http } from 'viem';
import {
  act,
  approve,
  create,
  gate,
  get,
  must,
  patch,
  reaches,
  registered,
  shared,
  sql,
  waitFor,
  type DetailView,
} from '../support/http.ts';
import { GUARDED_SIGNER } from '../support/shared-stack-facts.ts';

const { signer_key } = GUARDED_SIGNER;
const { chainId, rpcUrl, accounts } = shared.chain;
const client = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 });
const [other, payee] = [accounts.signer.address, accounts.treasury.address];

interface SignerRow {
  readonly signer_key: string;
  readonly status: string;
  readonly observed_signer_address: `0x${string}` | null;
}
const signer = async (): Promise<SignerRow | undefined> =>
  (await must(200, get<readonly SignerRow[]>('/signers'))).find(
    (each) => each.signer_key === signer_key,
  );
let address: `0x${string}`;
beforeAll(async () => {
  address = await waitFor(async () => (await signer())?.observed_signer_address);
});

/** A gate, and behind it a payment that this signer signs. */
const payment = {
  node_key: 'pay',
  node_kind: 'action',
  action_type: 'evm_native_transfer',
  signer_selector: { chain_family: 'evm', profile: GUARDED_SIGNER.profile },
  has_side_effect: true,
  config: { asset: 'ETH', chain_id: chainId, destination_address: payee },
};

/** How it is with the payment: what was signed for it, and what the account has sent at all. */
async function facts(
  movementId: string,
): Promise<{ readonly claims: number; readonly fences: number; readonly sent: number }> {
  const count = async (table: 'evm_transactions' | 'node_attempts'): Promise<number> =>
    Number(
      (
        await sql(
          `SELECT count(*)::int AS n FROM ${table} WHERE movement_id = $1 AND node_key = 'pay'`,
          [movementId],
        )
      )[0]?.['n'],
    );
  return {
    claims: await count('evm_transactions'),
    fences: await count('node_attempts'),
    sent: await client.getTransactionCount({ address }),
  };
}

const payOf = (movement: DetailView) => movement.nodes.find(({ node_key }) => node_key === 'pay');

test.each<[string, string, () => Promise<unknown>, () => Promise<unknown>]>([
  [
    'is disabled',
    'SIGNER_DISABLED',
    () => must(200, patch(`/signers/${signer_key}`, { status: 'disabled' })),
    () => must(200, patch(`/signers/${signer_key}`, { status: 'active' })),
  ],
  [
    'has another address than the pinned one',
    'SIGNER_IDENTITY_MISMATCH',
    // The API pins nothing but what the signer is, so this is a signer whose key was changed since.
    () =>
      sql('UPDATE signers SET expected_signer_address = $1 WHERE signer_key = $2', [
        other,
        signer_key,
      ]),
    () =>
      sql('UPDATE signers SET expected_signer_address = NULL WHERE signer_key = $1', [signer_key]),
  ],
])(
  'a signer that %s sends nothing, and once that is put right it sends',
  async (_what, code, breaks, restores) => {
    const movement = await create(await registered([gate('check'), payment]), {
      intent: { asset: 'ETH', amount: '0.01' },
    });
    const { movement_id } = movement;
    await approve(movement);
    await reaches(movement_id, 'WAITING_MANUAL_ACTION');
    const before = await facts(movement_id);
    expect(before).toMatchObject({ claims: 0, fences: 0 });
    await breaks();
    try {
      await must(200, act(movement_id, 'resume'));
      expect(payOf(await reaches(movement_id, 'FAILED'))).toMatchObject({
        state: 'FAILED',
        error_code: code,
      });
      expect(await facts(movement_id)).toEqual(before);
    } finally {
      await restores();
    }
    await must(200, act(movement_id, 'retry'));
    expect(payOf(await reaches(movement_id, 'COMPLETED'))).toMatchObject({ state: 'COMPLETED' });
    expect(await facts(movement_id)).toEqual({ claims: 1, fences: 1, sent: before.sent + 1 });
  },
);
