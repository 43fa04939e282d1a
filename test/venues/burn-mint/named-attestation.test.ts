/** What an attested message that a person names proves of a burn. */
import { concat, type Hex } from 'viem';
import type { NamedClaim, ReadClaim } from '../../../domain/claim-reader.ts';
import type { JsonObject } from '../../../domain/json.ts';
import { createAttestationReader } from '../../../venues/burn-mint/named-attestation.ts';
import {
  approveBurns,
  burn,
  SIGNER,
  startLanes,
  STRANGER,
  usdb,
  type BurnTerms,
} from '../../dev/bridge-stack.ts';
import { started } from '../../support/started.ts';
import { attest, burnt, executorsOf, nonceOf, signatures } from './lanes-desk.ts';

const lanes = started(() => startLanes());
beforeAll(async () => {
  await approveBurns(lanes.near);
});

const desk = () => executorsOf(lanes, { attested: [], anew: [] });

interface Burnt {
  readonly message: Hex;
  readonly claim: NamedClaim;
}

/** A burn of a node that is mined and final, and the claim on it without a message. */
async function waiting(): Promise<Burnt> {
  const { context, journal, message } = await burnt(lanes, desk());
  const [signed] = await journal.transactions();
  await lanes.near.mine(100);
  const { action_type, config, asset, amount, prior } = context;
  return {
    message,
    claim: {
      ...{ movement_id: 'm', action_type, config, asset, amount, output: {} },
      external_ref: signed?.tx_hash ?? null,
      prepared_action: prior?.prepared_action ?? {},
      recorded: {},
      matched: null,
      from: SIGNER.address,
    },
  };
}
const read = (
  { claim }: Burnt,
  { message, attestation }: { readonly message: Hex; readonly attestation: Hex },
  more: JsonObject = {},
  from: string | null = SIGNER.address,
): Promise<ReadClaim> =>
  createAttestationReader(desk()).read(
    { ...claim, output: { attested_message: message, attestation, ...more }, from },
    AbortSignal.timeout(20_000),
  );
const refused = (reason: string) => expect.objectContaining({ ok: false, reason }) as object;

it('is proven by its own message with the signatures that the destination takes', async () => {
  const own = await waiting();
  const attested = await attest(own.message, nonceOf('own'));
  expect(await read(own, attested)).toMatchObject({
    ok: true,
    output: {
      ...{ tx_hash: own.claim.external_ref, message: own.message },
      ...{ attested_message: attested.message, attestation: attested.attestation },
      ...{ submitted_amount: '2.5', message_nonce: nonceOf('own') },
      source_chain_id: lanes.near.chainId,
      destination_chain_id: lanes.far.chainId,
      destination_block: expect.any(String),
      venue_entries: expect.any(String),
    },
  });
});

it('is not proven by signatures that the destination refuses', async () => {
  const own = await waiting();
  const { message } = await attest(own.message, nonceOf('unsigned'));
  const other = concat([...(await signatures('0x00'))]);
  for (const attestation of [other, '0x'] as const)
    expect(await read(own, { message, attestation })).toEqual(refused('differs'));
});

it('is not proven by the message of another burn', async () => {
  const own = await waiting();
  const { message } = await burn(lanes.near, lanes.far, { amount: usdb('2.4') });
  expect(await read(own, await attest(message, nonceOf('other')))).toEqual(refused('differs'));
});

it('is read in the transaction of the burn, which the account of the node has sent', async () => {
  const own = await waiting();
  const attested = await attest(own.message, nonceOf('read'));
  const nowhere = { tx_hash: `0x${'ab'.repeat(32)}` };
  expect(await read(own, attested, nowhere)).toEqual(refused('not_found'));
  expect(await read(own, attested, {}, STRANGER.address)).toEqual(refused('differs'));
  expect(await read(own, attested, {}, null)).toMatchObject({ ok: true });
});

it('is not proven by another burn of the same account', async () => {
  const own = await waiting();
  const readOther = async (terms: BurnTerms): Promise<ReadClaim> => {
    const other = await burn(lanes.near, lanes.far, { amount: usdb('2.5'), ...terms });
    await lanes.near.mine(100);
    const attested = await attest(other.message, nonceOf(other.transaction));
    return read(own, attested, { tx_hash: other.transaction });
  };
  // Nothing but its transaction tells this one from its own.
  expect(await readOther({})).toMatchObject({ ok: true });
  const others: readonly BurnTerms[] = [
    { payee: STRANGER.address },
    { amount: usdb('2.4') },
    { maxFee: 1n },
    { threshold: 1000 },
    { caller: STRANGER.address },
  ];
  for (const terms of others)
    expect([Object.keys(terms), await readOther(terms)]).toEqual([
      Object.keys(terms),
      refused('differs'),
    ]);
});

it('is not judged by other venue entries than it was burnt under', async () => {
  const own = await waiting();
  const attested = await attest(own.message, nonceOf('entries'));
  const prepared_action = { ...own.claim.prepared_action, venue_entries: 'others' };
  const other = { ...own, claim: { ...own.claim, prepared_action } };
  await expect(read(other, attested)).rejects.toMatchObject({ code: 'VENUE_ENTRY_CHANGED' });
  expect(await read(own, attested)).toMatchObject({ ok: true });
});
