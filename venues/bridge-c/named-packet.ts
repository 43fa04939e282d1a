/** Reads the transaction that a person names for a send over the bridge, or for its delivery. */
import { getAddress, isAddressEqual, type Address } from 'viem';
import { unprovenClaim, type ClaimReader, type NamedClaim } from '../../domain/claim-reader.ts';
import type { CallOptions } from '../../domain/executor.ts';
import type { JsonObject } from '../../domain/json.ts';
import { fromBaseUnits } from '../../domain/money.ts';
import { hashIn, readNamedReceipt, shownByAll } from '../evm/named-transaction.ts';
import { requireSameEntries } from '../same-entries.ts';
import { readDestination, receivedBy } from './delivery.ts';
import { BRIDGE_C_OBSERVE_DESCRIPTOR, readSent } from './observe.ts';
import { entriesOf, readSendPlan, type Bridge } from './plan.ts';
import { BRIDGE_C_SEND_DESCRIPTOR, sendEffect, unitsOf } from './send-act.ts';

const NO_HASH = 'output.tx_hash is no transaction hash';

/** Returns the reader of sends: the packet is that of the source chain's logs. */
export function createSendReader({ chains, venues }: Bridge): ClaimReader {
  return {
    action_types: BRIDGE_C_SEND_DESCRIPTOR.action_types,
    venues: null,
    async read(named, signal) {
      const call: CallOptions = { signal, requestId: 'a look at a send' };
      const hash = hashIn(named.output['tx_hash']);
      if (hash === null) return unprovenClaim('not_found', NO_HASH);
      const plan = readSendPlan(named, venues);
      requireSameEntries(named.prepared_action['venue_entries'], entriesOf(plan));
      const connection = await chains.open(plan.from.venue.chain_id, call);
      const moved = await unitsOf(connection, plan);
      return shownByAll(connection, async (one) => {
        const mined = await readNamedReceipt(one, hash);
        if (!mined.ok) return mined;
        const { receipt } = mined;
        const from = (named.from ?? getAddress(receipt.from)) as Address;
        const did = sendEffect(plan, from, moved).did(from, receipt);
        if (!did.ok)
          return unprovenClaim('differs', `${hash} is not the planned send of ${from}`, {
            from: receipt.from,
            to: receipt.to,
          });
        return {
          ok: true,
          output: {
            ...did.output,
            ...factsForDelivery(named),
            tx_hash: hash,
            block_number: receipt.blockNumber.toString(),
          },
        };
      });
    },
  };
}

/** Returns the facts of the send's prepare that its observe node reads. */
function factsForDelivery({ prepared_action: prepared }: NamedClaim): JsonObject {
  const { destination_block, detection_latency_budget_seconds } = prepared;
  return {
    ...(destination_block === undefined ? {} : { destination_block }),
    ...(detection_latency_budget_seconds === undefined ? {} : { detection_latency_budget_seconds }),
  };
}

/** Returns the reader of deliveries: the destination's token has received the packet. */
export function createDeliveryReader({ chains }: Pick<Bridge, 'chains'>): ClaimReader {
  return {
    action_types: BRIDGE_C_OBSERVE_DESCRIPTOR.action_types,
    venues: null,
    async read(named, signal) {
      const call: CallOptions = { signal, requestId: 'a look at a delivery' };
      const hash = hashIn(named.output['tx_hash']);
      if (hash === null) return unprovenClaim('not_found', NO_HASH);
      const { packet, chain_id, payee } = readSent(named.matched?.output ?? undefined);
      const connection = await chains.open(chain_id, call);
      return shownByAll(connection, async (one) => {
        const mined = await readNamedReceipt(one, hash);
        if (!mined.ok) return mined;
        const destination = await readDestination(one, packet);
        const arrived =
          destination === null ? null : receivedBy(destination, packet, mined.receipt);
        if (destination === null || arrived === null)
          return unprovenClaim('differs', `${hash} delivers another packet, or none`);
        const received_amount = fromBaseUnits(arrived.units, destination.decimals);
        if (!isAddressEqual(arrived.to, payee as Address))
          return unprovenClaim('differs', `the packet was received for ${arrived.to}`, {
            destination_address: arrived.to,
            received_amount,
          });
        return {
          ok: true,
          output: {
            guid: packet.guid,
            tx_hash: hash,
            block_number: mined.receipt.blockNumber.toString(),
            received_amount,
            destination_address: payee,
            chain_id,
          },
        };
      });
    },
  };
}
