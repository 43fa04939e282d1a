// The order of test files: those that take longest begin, so that none of them is left to run alone
// at the end. Jest knows that by itself only where it has run before, which a fresh clone has not.
import Sequencer from '@jest/test-sequencer';

/**
 * Files of more than half a minute, the slowest first. One that is missing here costs time and
 * nothing else: if it starts parts of its own it comes before those that do not (OWN_PARTS).
 */
const SLOW = [
  'slow/both-runtimes-killed',
  'slow/both-runtimes',
  'slow/ways-and-stops',
  ...['kraken', 'bybit', 'coinbase', 'okx', 'binance'].map((name) => `faults/exchange-${name}`),
  'slow/shared-limits-processes',
  'faults/stuck-run',
  'faults/continue-as-new',
  'faults/signed-for-teams',
  'faults/zombie-worker',
  'faults/two-operators',
  'replay/replay',
  'faults/silence',
  'faults/lanes',
  'faults/stops',
  'faults/attention',
  'faults/reads-that-fail',
  'faults/worker-killed',
  'faults/nonce-takeover',
  'slow/audit-chain',
  'slow/auto-approve',
  'slow/commands',
  'slow/capital-transfers',
  'faults/team-worker',
  'slow/executor-check-task-queue',
  'slow/paper-venue-crash',
  'faults/temporal-away',
  'slow/reset',
  'slow/executor-check-examples',
  'slow/kit-package',
  'faults/unknown-outcomes',
  'faults/signer-rotation',
  'faults/allowances',
  'activities/agent-wallets',
  'venues/perp/user-signed',
  'venues/cex/dialects',
  'venues/evm/recover',
  'venues/burn-mint/executors',
  'http/change-requests',
  'store/migrate',
  'http/balances',
  'faults/approved-is-what-moves',
  'slow/payload-encryption',
  'faults/cancel-compensation',
  'slow/exchange',
  'faults/local-activity-rerun',
  'venues/burn-mint/route',
  'faults/readiness',
  'slow/own-executors',
  'faults/after-restore',
  'slow/overload',
  'slow/parallel-holds',
  'slow/key-service',
  'slow/remote-signer',
  'slow/tracing',
  'slow/replays',
  'slow/callbacks',
  'slow/team-record-rerun',
  'slow/fundadmin-process',
  'store/holds',
  'store/approval-rules',
  'store/payments',
  'store/perp-phases',
  'http/fundctl',
  'store/perp-fence',
  'venues/bridge-c/executors',
  'http/examples',
  'slow/holds-transfers',
  'store/allowlist',
  'store/verify',
].map((name) => `/test/${name}.test.ts`);

/** Folders whose files start stacks or replay histories, each for some twenty seconds at least. */
const OWN_PARTS = /\/test\/(bridges|faults|replay|slow)\//;

export default class SlowFirst extends Sequencer {
  sort(tests) {
    const place = ({ path }) => {
      const found = SLOW.findIndex((name) => path.endsWith(name));
      if (found !== -1) return found;
      return OWN_PARTS.test(path) ? SLOW.length : SLOW.length + 1;
    };
    return [...super.sort(tests)].sort((a, b) => place(a) - place(b));
  }
}
