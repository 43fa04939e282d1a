/**
 * Checks the transaction that an operator names as the mint of a burn, when no attester reports the
 * burn's nonce. The chain must prove two facts: the destination's transmitter has accepted a
 * message that equals the burn's in every field but the attester's four, and the messenger has
 * minted the burn's amount to its payee.
 *
 * Only the attester sets the nonce: `MessageV2.sol` emits it empty. So the nonce that the
 * transaction used is the burn's nonce. `MessageReceived` shows source domain, sender, nonce,
 * finality and body; the rest of the header is compared through the message's bytes, which must be
 * in the calldata.
 */
import type { Hash, Hex, TransactionReceipt } from 'viem';
import type { MintReader, NamedMint, NamedMints } from '../../domain/bridges/named-mint.ts';
import type { CallOptions } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { finalizedNumber, readReceipt, type EvmChains, type EvmConnection } from '../evm/client.ts';
import type { EvmVenue } from '../evm/config.ts';
import { isCanonical, recordedBlock } from '../evm/landed.ts';
import { requireSameEntries } from '../same-entries.ts';
import { isPlanned } from './burn-act.ts';
import { attestedFacts } from './burn.ts';
import { broughtMessage, differs, readMessage } from './message.ts';
import { minted, receivedIn, type MintPlan } from './mint-act.ts';
import { entriesOf, readBurnPlan } from './plan.ts';

/** A burn whose nonce is not known, and the message bytes that the burn emitted. */
interface Emitted {
  readonly plan: Omit<MintPlan, 'nonce'>;
  readonly bytes: string;
}

export function createMintReader({
  chains,
  venues,
}: {
  readonly chains: EvmChains;
  readonly venues: readonly EvmVenue[];
}): MintReader {
  return {
    async read(burn, transaction, signal) {
      const call: CallOptions = { signal, requestId: 'a look at a mint' };
      const plan = readBurnPlan(burn, venues);
      requireSameEntries(burn.output['venue_entries'], entriesOf(plan));
      const connection = await chains.open(plan.destination.chain_id, call);
      const decimals = await connection.decimals(plan.minted);
      const bytes = burn.output['message'];
      const reading = typeof bytes === 'string' ? readMessage(bytes) : null;
      if (typeof bytes !== 'string' || reading?.ok !== true)
        return no('burn_unrecorded', 'the node of the burn has recorded no burn message');
      const since = recordedBlock(burn.output['destination_block']);
      if (since === null || burn.output['venue_entries'] === undefined)
        return no(
          'burn_unrecorded',
          'the node of the burn has not recorded the destination block and the venue entries',
        );
      if (!isPlanned(plan, decimals, reading.message))
        return no(
          'burn_unrecorded',
          'the message that the node of the burn has recorded is not the planned burn',
        );
      const { destination, minted: token, amount } = plan;
      const emitted: Emitted = {
        bytes,
        plan: {
          destination,
          minted: token,
          amount,
          emitted: reading.message,
          since,
        },
      };
      const shown = await connection.witnesses((one) =>
        mintsOn(one, emitted, decimals, transaction as Hash),
      );
      return agreed(shown);
    },
  };
}

const no = (
  reason: Extract<NamedMints, { ok: false }>['reason'],
  problem: string,
): Extract<NamedMints, { ok: false }> => ({ ok: false, reason, problem });

/** Returns the answer that all endpoints agree on; else why the endpoints do not agree. */
function agreed(shown: readonly NamedMints[]): NamedMints {
  const [first, ...others] = shown;
  if (first === undefined) throw new Error('no endpoint has answered');
  const refused = shown.find(({ ok }) => !ok);
  if (refused !== undefined) return refused;
  return others.every((other) => JSON.stringify(other) === JSON.stringify(first))
    ? first
    : no('endpoints_differ', 'the endpoints of the chain show different mints in the transaction');
}

/** Returns the mints that one endpoint shows. */
async function mintsOn(
  one: EvmConnection,
  emitted: Emitted,
  decimals: number,
  hash: Hash,
): Promise<NamedMints> {
  const receipt = await readReceipt(one, hash);
  if (receipt === null)
    return no(
      'not_found',
      `no block of chain ${emitted.plan.destination.chain_id} has the transaction`,
    );
  if (receipt.blockNumber > (await finalizedNumber(one)) || !(await isCanonical(one, receipt)))
    return no('not_final', 'the block of the transaction is not final yet; try again later');
  if (receipt.status === 'reverted') return no('reverted', 'the transaction reverted');
  if (receipt.blockNumber < emitted.plan.since)
    return no('before_burn', 'the block of the transaction is older than the burn');
  const received = receivedIn(emitted.plan, receipt);
  const calldata = await one.ask(async (client) => (await client.getTransaction({ hash })).input);
  const mints: NamedMint[] = [];
  let unlike: string | null = null;
  for (const { args } of received) {
    const { nonce, finalityThresholdExecuted: finality, messageBody: body } = args;
    const did = minted({ ...emitted.plan, nonce }, decimals, receipt);
    if (!did.ok) continue;
    const message = broughtMessage(emitted.bytes, { nonce, finality, body });
    const why = whyUnlike(emitted, message, calldata);
    if (why === null) mints.push(mintOf({ receipt, message, decimals, did: did.output }));
    unlike ??= why;
  }
  if (mints.length > 0) return { ok: true, mints };
  return unlike === null
    ? no('no_mint', 'the transaction shows no mint of this burn by contracts of the venue entry')
    : no('another_message', unlike);
}

/** Returns why the mint's message is not the burn's own, or null. */
function whyUnlike({ plan }: Emitted, message: Hex, calldata: Hex): string | null {
  const reading = readMessage(message);
  const why = reading.ok ? differs(reading.message, plan.emitted) : reading.problem;
  if (why !== null) return `the message of the transaction is not the burn's own: ${why}`;
  return calldata.toLowerCase().includes(message.slice(2))
    ? null
    : "the transaction's calldata lacks the burn's own message, so it may have minted another burn";
}

function mintOf(of: {
  readonly receipt: Pick<TransactionReceipt, 'transactionHash' | 'blockNumber'>;
  readonly message: Hex;
  readonly decimals: number;
  readonly did: JsonObject;
}): NamedMint {
  const { receipt, message, decimals, did } = of;
  const { transactionHash: hash } = receipt;
  const reading = readMessage(message);
  const { bridge_fee_amount, ...facts } = did;
  return {
    burn: {
      ...(reading.ok ? attestedFacts(reading.message, decimals) : {}),
      attested_message: message,
      // The message is already minted, so no attestation is needed.
      attestation: '0x',
      mint_tx_hash: hash,
    },
    mint: {
      tx_hash: hash,
      block_number: receipt.blockNumber.toString(),
      ...facts,
      fee_amount: bridge_fee_amount ?? '0',
    },
  };
}
