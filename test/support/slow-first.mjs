// The order of test files: those that take longest begin, so that none of them is left to run alone at the
// end. Jest knows that by itself only where it has run before, which a fresh clone has not.
import Sequencer from '@jest/test-sequencer';

/** Files of more than half a minute, the slowest first. One that is missing here costs time and nothing else. */
const SLOW = [
  'faults/worker-killed',
  'faults/nonce-takeover',
  'faults/audit-chain',
  'faults/auto-approve',
  'faults/commands',
  'faults/capital-transfers',
  'faults/team-worker',
  'executor-kit/task-queue',
  'dev/paper-venue-crash',
  'faults/zombie-worker',
  'faults/two-operators',
  'faults/temporal-away',
  'faults/reset',
  'executor-kit/check-examples',
  'faults/unknown-outcomes',
  'faults/payload-encryption',
  'faults/callbacks',
  'faults/replays',
  'faults/cancel-compensation',
  'faults/exchange',
].map((name) => `/test/${name}.test.ts`);

export default class SlowFirst extends Sequencer {
  sort(tests) {
    const place = ({ path }) => {
      const found = SLOW.findIndex((name) => path.endsWith(name));
      return found === -1 ? SLOW.length : found;
    };
    return [...super.sort(tests)].sort((a, b) => place(a) - place(b));
  }
}
