/**
 * Reads the attested message that a person names for a burn: the source chain shows the burn, and
 * the destination's contract takes the signatures.
 */
import { getAddress, isHex, type Address } from 'viem';
import { unprovenClaim, type ClaimReader, type NamedClaim } from '../../domain/claim-reader.ts';
import type { CallOptions } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { EvmChains } from '../evm/client.ts';
import type { EvmVenue } from '../evm/config.ts';
import { hashIn, readNamedReceipt, shownByAll } from '../evm/named-transaction.ts';
import { requireSameEntries } from '../same-entries.ts';
import { whyUnsigned } from './attestation.ts';
import { CCTP_BURN_DESCRIPTOR, didBurn } from './burn-act.ts';
import { attestedFacts } from './burn.ts';
import { differs, readMessage } from './message.ts';
import { entriesOf, readBurnPlan } from './plan.ts';

/** Returns the reader. A mint that a person names instead is read by `named-mint.ts`. */
export function createAttestationReader({
  chains,
  venues,
}: {
  readonly chains: EvmChains;
  readonly venues: readonly EvmVenue[];
}): ClaimReader {
  return {
    action_types: CCTP_BURN_DESCRIPTOR.action_types,
    venues: null,
    async read(named, signal) {
      const call: CallOptions = { signal, requestId: 'a look at a burn' };
      const plan = readBurnPlan(named, venues);
      const entries = entriesOf(plan);
      requireSameEntries(named.prepared_action['venue_entries'], entries);
      const hash = hashIn(named.output['tx_hash'] ?? named.external_ref);
      if (hash === null)
        return unprovenClaim('not_found', 'name the transaction of the burn in output.tx_hash');
      const { attested_message: message, attestation } = named.output;
      const attested = typeof message === 'string' ? readMessage(message) : null;
      if (attested?.ok !== true || !isHex(message) || !isHex(attestation))
        return unprovenClaim('differs', 'output.attested_message and output.attestation are none');
      const connection = await chains.open(plan.source.chain_id, call);
      const decimals = await connection.decimals(plan.token);
      const shown = await shownByAll(connection, async (one) => {
        const mined = await readNamedReceipt(one, hash);
        if (!mined.ok) return mined;
        const { receipt } = mined;
        const from = (named.from ?? getAddress(receipt.from)) as Address;
        const did = didBurn(plan, decimals, from, receipt);
        if (!did.ok)
          return unprovenClaim('differs', `${hash} is not the planned burn of ${from}`, {
            from: receipt.from,
            to: receipt.to,
          });
        const block_number = receipt.blockNumber.toString();
        return { ok: true, output: { ...did.output, tx_hash: hash, block_number } };
      });
      if (!shown.ok) return shown;
      const emitted = readMessage(String(shown.output['message']));
      const unlike = emitted.ok ? differs(attested.message, emitted.message) : emitted.problem;
      if (unlike !== null)
        return unprovenClaim('differs', `output.attested_message is not of this burn: ${unlike}`, {
          message: String(shown.output['message']),
        });
      const unsigned = await whyUnsigned(
        await chains.open(plan.destination.chain_id, call),
        plan.destination.cctp.message_transmitter,
        { message, attestation },
      );
      if (unsigned !== null)
        return unprovenClaim('differs', `the destination refuses output.attestation: ${unsigned}`);
      return {
        ok: true,
        output: {
          ...shown.output,
          ...factsForMint(named, entries),
          ...attestedFacts(attested.message, decimals),
          attested_message: message,
          attestation,
        },
      };
    },
  };
}

/** Returns the facts of the burn's prepare that its mint reads. */
function factsForMint({ prepared_action: prepared }: NamedClaim, entries: string): JsonObject {
  const { destination_block: block } = prepared;
  return {
    venue_entries: entries,
    ...(typeof block === 'string' ? { destination_block: block } : {}),
  };
}
