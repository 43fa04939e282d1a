/**
 * The requirement of a node that is sent in a send lane: its executor gets what is known of the
 * lane's other sends, to tell their records from its own.
 */
import { readSendLane } from '../../store/send-lanes.ts';
import type { Requirement } from './requirement.ts';

export const sendLane: Requirement = {
  needs: ({ prepared_action }) => typeof prepared_action?.['send_lane'] === 'string',
  async terms({ db }, row, { purpose }) {
    if (purpose !== 'look') return {};
    const lane = await readSendLane(db, row);
    return lane === null ? {} : { send_lane: lane };
  },
  // No check of its own: `apply_transition` takes the lane of every send that passes its fence.
  guard: null,
};
