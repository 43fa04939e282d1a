/**
 * Delivers packets: reads what the endpoints sent, verifies it at the other endpoint and delivers
 * it. Reads the present state from the chains each time, so restarts, lost responses and
 * reorganisations need no journal.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { BaseError, encodeFunctionData, parseEventLogs, type TransactionReceipt } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { receiptOf } from '../../kit/chain.ts';
import { FEES } from '../../kit/fees.ts';
import type { Hex } from '../../kit/hex.ts';
import { repeatSteps } from '../../kit/process.ts';
import { ENDPOINT } from '../contracts/artifacts.ts';
import { DELIVERER } from '../lanes.ts';
import type { Side } from '../sides.ts';
import type { DelivererFaults } from './faults.ts';
import { readPacket, type Packet } from './packet.ts';

/** Pause after a delivery that the destination contract refused. */
const RETRY_MS = 2_000;
/** Number of blocks that are read again, since a reorganisation may have changed them. */
const OVERLAP = 32n;
/**
 * Gas limit, enough for any delivery here. A fixed limit, so that a delivery that reverts is mined
 * too.
 */
const GAS = 500_000n;
const MINED_WITHIN_MS = 5_000;

interface Carried {
  readonly packet: Packet;
  readonly from: Side;
  readonly to: Side;
  readonly transaction: Hex;
  readonly seenAt: number;
  status: 'sent' | 'verified' | 'delivered';
  tries: number;
  repeats: number;
  notBefore: number;
  /** Whether the packet was delivered in a final block and all its repeats are done. */
  settled: boolean;
  deliveredBy: bigint | null;
}

/** A packet as `GET /packets` shows it to people and tests. */
export interface PacketView {
  readonly guid: Hex;
  readonly status: Carried['status'];
  readonly origin: { readonly srcEid: number; readonly sender: Hex; readonly nonce: string };
  readonly receiver: Hex;
  readonly message: Hex;
  readonly transaction: Hex;
  readonly alerts: number;
  readonly repeats: number;
}

export interface Deliveries {
  packets(): readonly PacketView[];
  stop(): Promise<void>;
}

/** Starts to deliver packets between the two chains. */
export function startDeliveries(
  sides: readonly [Side, Side],
  faults: () => DelivererFaults,
): Deliveries {
  const carried = new Map<Hex, Carried>();
  const scanned = new Map<Side, bigint>();
  const ending = new AbortController();
  const account = privateKeyToAccount(DELIVERER.privateKey);

  const scan = async (from: Side): Promise<void> => {
    const head = await from.client.getBlockNumber();
    const next = scanned.get(from) ?? 0n;
    const first = next > OVERLAP ? next - OVERLAP : 0n;
    const logs = await from.client.getLogs({
      address: from.contracts.endpoint,
      fromBlock: first > head ? head : first,
      toBlock: head,
    });
    scanned.set(from, head);
    for (const log of parseEventLogs({ abi: ENDPOINT.abi, logs, eventName: 'PacketSent' })) {
      const packet = readPacket(log.args.encodedPayload);
      const to = sides.find((side) => side.eid === packet?.dstEid);
      if (packet === null || to === undefined) continue;
      const known = carried.get(packet.guid);
      // After a reorganisation the same packet id may belong to another send.
      if (
        known !== undefined &&
        (known.status !== 'sent' || known.transaction === log.transactionHash)
      )
        continue;
      carried.set(packet.guid, {
        packet,
        from,
        to,
        transaction: log.transactionHash,
        seenAt: Date.now(),
        status: 'sent',
        tries: 0,
        repeats: 0,
        notBefore: 0,
        settled: false,
        deliveredBy: null,
      });
    }
  };

  /** Advances every packet for this destination chain as far as possible now. */
  const bring = async (to: Side): Promise<void> => {
    const waiting = [...carried.values()].filter((each) => each.to === to && !each.settled);
    if (waiting.length === 0) return;
    for (const each of waiting) await refresh(each);
    for (const each of waiting) if (each.status === 'sent') await verify(each);
    const { deliver, hold_until, order, repeat } = faults();
    const verified = waiting.filter(({ status }) => status === 'verified');
    if (deliver && verified.length >= hold_until)
      for (const each of order === 'reversed' ? verified.reverse() : verified)
        await deliverOrFail(each);
    for (const each of waiting)
      while (each.status === 'delivered' && each.repeats < repeat) {
        if ((await send(each.to, lzReceive(each.packet))) === null) break;
        each.repeats += 1;
      }
  };

  const refresh = async (each: Carried): Promise<void> => {
    const { origin, receiver } = each.packet;
    const read = { address: each.to.contracts.endpoint, abi: ENDPOINT.abi } as const;
    const path = [receiver, origin.srcEid, origin.sender] as const;
    const [hash, reached, final, head] = await Promise.all([
      each.to.client.readContract({
        ...read,
        functionName: 'inboundPayloadHash',
        args: [...path, origin.nonce],
      }),
      each.to.client.readContract({ ...read, functionName: 'lazyInboundNonce', args: path }),
      each.to.client.getBlock({ blockTag: 'finalized' }),
      each.to.client.getBlockNumber(),
    ]);
    const delivered = BigInt(hash) === 0n && origin.nonce <= reached;
    each.status = BigInt(hash) !== 0n ? 'verified' : delivered ? 'delivered' : 'sent';
    each.deliveredBy = delivered ? (each.deliveredBy ?? head) : null;
    const allRepeated = each.repeats >= faults().repeat;
    each.settled = each.deliveredBy !== null && each.deliveredBy <= final.number && allRepeated;
  };

  const verify = async (each: Carried): Promise<void> => {
    const { verify: may, delay_ms, confirmations } = faults();
    if (!may || Date.now() < each.seenAt + delay_ms) return;
    const receipt = await receiptOf(each.from.client, each.transaction);
    if (receipt === null) {
      // A reorganisation removed the send; if it is mined again, the scan finds it again.
      carried.delete(each.packet.guid);
      return;
    }
    const head = await each.from.client.getBlockNumber();
    if (head - receipt.blockNumber + 1n < BigInt(confirmations)) return;
    const { origin, receiver, payloadHash } = each.packet;
    const data = encodeFunctionData({
      abi: ENDPOINT.abi,
      functionName: 'verify',
      args: [origin, receiver, payloadHash],
    });
    if ((await send(each.to, data))?.status === 'success') each.status = 'verified';
  };

  const deliverOrFail = async (each: Carried): Promise<void> => {
    if (Date.now() < each.notBefore) return;
    const { packet, to } = each;
    const reason =
      each.tries < faults().fail_times
        ? '0x'
        : await to.client
            .call({
              account: account.address,
              to: to.contracts.endpoint,
              data: lzReceive(packet),
            })
            .then(
              () => null,
              (error: unknown) => revertData(error),
            );
    if (reason === null) {
      if ((await send(to, lzReceive(packet)))?.status === 'success') each.status = 'delivered';
      return;
    }
    if (each.tries >= faults().fail_times) each.notBefore = Date.now() + RETRY_MS;
    const { origin, receiver, guid, message } = packet;
    const alert = encodeFunctionData({
      abi: ENDPOINT.abi,
      functionName: 'lzReceiveAlert',
      args: [origin, receiver, guid, GAS, 0n, message, '0x', reason],
    });
    if ((await send(to, alert)) !== null) each.tries += 1;
  };

  /**
   * Sends a transaction and returns its receipt; null while an earlier transaction, or this one, is
   * not mined.
   */
  const send = async (to: Side, data: Hex): Promise<TransactionReceipt | null> => {
    const [nonce, mined] = await Promise.all([
      to.client.getTransactionCount({ address: account.address, blockTag: 'pending' }),
      to.client.getTransactionCount({ address: account.address }),
    ]);
    if (nonce > mined) return null;
    const serializedTransaction = await account.signTransaction({
      chainId: to.chainId,
      nonce,
      gas: GAS,
      ...FEES,
      to: to.contracts.endpoint,
      data,
    });
    const hash = await to.client.sendRawTransaction({ serializedTransaction });
    for (const until = Date.now() + MINED_WITHIN_MS; Date.now() < until; await sleep(20)) {
      const receipt = await receiptOf(to.client, hash);
      if (receipt !== null) return receipt;
      if (ending.signal.aborted) return null;
    }
    return null;
  };

  const steps = sides.flatMap((side) => [() => scan(side), () => bring(side)]);
  const running = repeatSteps('deliverer', steps, ending.signal);
  return {
    packets: () => [...carried.values()].map(viewOf),
    stop: async () => {
      ending.abort();
      await running;
    },
  };
}

function lzReceive({ origin, receiver, guid, message }: Packet): Hex {
  return encodeFunctionData({
    abi: ENDPOINT.abi,
    functionName: 'lzReceive',
    args: [origin, receiver, guid, message, '0x'],
  });
}

/** Returns the revert data of a refused delivery; rethrows any other error. */
function revertData(error: unknown): Hex {
  const found =
    error instanceof BaseError
      ? error.walk((cause) => typeof (cause as { data?: unknown }).data === 'string')
      : null;
  const data = (found as { data?: unknown } | null)?.data;
  if (typeof data !== 'string') throw error;
  return data as Hex;
}

function viewOf({ packet, status, transaction, tries, repeats }: Carried): PacketView {
  const { guid, origin, receiver, message } = packet;
  return {
    guid,
    status,
    receiver,
    message,
    transaction,
    repeats,
    alerts: tries,
    origin: { ...origin, nonce: origin.nonce.toString() },
  };
}
