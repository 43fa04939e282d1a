/** What is done behind the requests, in every process that takes work. */
import { startAttentionTeller } from '../activities/relays/attention.ts';
import { startBalanceLoops } from '../activities/relays/balances.ts';
import { startCallbackRelay } from '../activities/relays/callbacks.ts';
import { startCommandRelay, startSweeper } from '../activities/relays/commands.ts';
import { startTransferRelay } from '../activities/relays/capital-transfers.ts';
import { startLaneTender } from '../activities/relays/lanes.ts';
import { startCountFolder } from '../activities/relays/counts.ts';
import { startNonceCleaner } from '../activities/relays/request-nonces.ts';
import { createHealthRefresher } from '../activities/relays/health.ts';
import { startSealer } from '../activities/relays/seals.ts';
import type { Parts } from './parts.ts';

/** Starts every loop. */
export function startLoops({
  config,
  log,
  db,
  temporal,
  auditMacs,
  bound,
  balances,
  desk,
  stops,
}: Parts): void {
  const relay = { db, temporal, log, sweepIdleSeconds: config.sweepIdleSeconds };
  const { executors, signers } = bound;
  const loops = [
    startCommandRelay(relay),
    startSweeper(relay),
    startTransferRelay(relay),
    startAttentionTeller({ ...relay, pauseMs: Math.max(1_000, config.sweepIdleSeconds * 250) }),
    startCallbackRelay({
      db,
      log,
      allowedHosts: new Set(config.callbackHosts),
      sign: config.callbackSigner,
      maxAttempts: config.callbackMaxAttempts,
    }),
    startNonceCleaner({ db, log }),
    startCountFolder({ db, log }),
    startLaneTender({
      ...{ db, log, chains: bound.chains, signers },
      pauseMs: config.laneIntervalSeconds * 1_000,
    }),
    startSealer({ db, log, macs: auditMacs }),
    ...startBalanceLoops(desk, log),
  ];
  const health = createHealthRefresher({
    db,
    executors,
    signers,
    temporal,
    intervalSeconds: config.healthIntervalSeconds,
    balances,
    log,
  });
  health.start();
  stops.push(
    async () => void (await Promise.all([...loops.map((loop) => loop.stop()), health.stop()])),
  );
}
