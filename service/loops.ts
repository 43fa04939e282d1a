/** Starts the background loops of every process that takes work. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ATTENTION_LEASE, startAttentionTeller } from '../activities/relays/attention.ts';
import { balancesLease, startBalanceLoops } from '../activities/relays/balances.ts';
import { BUILDS_LEASE, startBuildDrainer } from '../activities/relays/builds.ts';
import { startCallbackRelay } from '../activities/relays/callbacks.ts';
import { startCommandRelay } from '../activities/relays/commands.ts';
import { startTransferRelay } from '../activities/relays/capital-transfers.ts';
import { startLeases } from '../activities/relays/leases.ts';
import { startLooks } from '../activities/relays/looks.ts';
import { startLaneTender } from '../activities/relays/lanes.ts';
import { startLateLooks } from '../activities/relays/late-looks.ts';
import { startCountFolder } from '../activities/relays/counts.ts';
import { startProposalExpirer } from '../activities/relays/proposals.ts';
import { NONCES_LEASE, startNonceCleaner } from '../activities/relays/request-nonces.ts';
import { RETENTION_LEASE, startRetention } from '../activities/relays/retention.ts';
import { createHealthRefresher } from '../activities/relays/health.ts';
import { startScout, UNPOKED_MS } from '../activities/relays/scout.ts';
import { mayReplaceLost } from '../activities/phases/replacement.ts';
import { startSealer } from '../activities/relays/seals.ts';
import { STUCK_LEASE, startStuckRuns } from '../activities/relays/stuck-runs.ts';
import { startSweeper, startWaitingSweeper } from '../activities/relays/sweeper.ts';
import { createEvmSigning } from '../venues/evm/signing.ts';
import type { Parts } from './parts.ts';
import { endLoops, workStopSeconds } from './stop.ts';

/** Starts every loop, and registers in `stops` how they are stopped. */
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
  const { executors, signers, venues } = bound;
  // The scout checks the tables of all these loops in one query, and wakes a loop that has work.
  const pauseMs = UNPOKED_MS;
  const commands = startCommandRelay({ ...relay, pauseMs });
  const transfers = startTransferRelay({ ...relay, pauseMs });
  const callbacks = startCallbackRelay({
    db,
    log,
    pauseMs,
    allowedHosts: new Set(config.callbackHosts),
    sign: config.callbackSigner,
    maxAttempts: config.callbackMaxAttempts,
  });
  const sealer = startSealer({ db, log, pauseMs, macs: auditMacs });
  const proposals = startProposalExpirer({ db, log, pauseMs });
  const looks = startLooks({ db, log, signers, desk, claims: venues.claims, pauseMs });
  const { build } = config;
  const names = [
    ATTENTION_LEASE,
    STUCK_LEASE,
    NONCES_LEASE,
    RETENTION_LEASE,
    balancesLease(desk),
    ...(build === null ? [] : [BUILDS_LEASE]),
  ];
  const holder = `${hostname()} ${String(process.pid)} ${randomUUID().slice(0, 8)}`;
  const leases = startLeases({ db, log, names, holder });
  const loops = [
    // The scout comes first, so that it is stopped before the loops that it wakes.
    startScout({
      db,
      log,
      poked: {
        commands: { loop: commands, everyMs: 500 },
        transfers: { loop: transfers, everyMs: 500 },
        callbacks: { loop: callbacks, everyMs: 0 },
        audit: { loop: sealer, everyMs: 1_000 },
        proposals: { loop: proposals, everyMs: 500 },
        looks: { loop: looks, everyMs: 0 },
      },
    }),
    commands,
    transfers,
    callbacks,
    sealer,
    proposals,
    looks,
    startSweeper(relay),
    startWaitingSweeper(relay),
    startAttentionTeller({
      ...relay,
      leases,
      pauseMs: Math.max(1_000, config.sweepIdleSeconds * 250),
    }),
    startStuckRuns({ ...relay, leases }),
    ...(build === null ? [] : [startBuildDrainer({ temporal, build, log, leases })]),
    startNonceCleaner({ db, log, leases }),
    startRetention({
      db,
      log,
      leases,
      days: { commands: config.commandRetentionDays, callbacks: config.callbackRetentionDays },
    }),
    startCountFolder({ db, log }),
    startLaneTender({
      db,
      log,
      chains: venues.chains,
      signers,
      mayReplace: (claim, lost) =>
        mayReplaceLost({ db, executors, signers, chains: venues.chainAssets }, claim, lost),
      pauseMs: config.laneIntervalSeconds * 1_000,
    }),
    startLateLooks({
      db,
      log,
      executors,
      signers,
      signing: createEvmSigning(venues.chains, venues.acts),
      chains: venues.chainAssets,
      bridgeSnapshotMaxAgeSeconds: config.bridgeSnapshotMaxAgeSeconds,
      pauseMs: config.unhurriedSeconds * 1_000,
    }),
    ...venues.loops({ db, log, signers }),
    ...startBalanceLoops(desk, { log, leases }),
  ];
  const health = createHealthRefresher({
    db,
    executors,
    signers,
    temporal,
    intervalSeconds: config.healthIntervalSeconds,
    checkedBy: holder,
    balances,
    log,
  });
  health.start();
  stops.work.push({
    name: 'relays and loops',
    stop: () =>
      endLoops([...loops, health], {
        leases: leases.loop,
        milliseconds: workStopSeconds(bound) * 1_000,
        log,
      }),
  });
}
