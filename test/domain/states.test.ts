import {
  ACTION_STATES,
  ENDED_STATES,
  MOVEMENT_STATES,
  MOVEMENT_TABLE,
} from '../../domain/states/movement.ts';
import {
  IN_FLIGHT_NODE_STATES,
  NODE_STATES,
  NODE_TABLE,
  SETTLED_NODE_STATES,
  isSettled,
} from '../../domain/states/node.ts';
import { AGENT_WALLET_STATES, AGENT_WALLET_TABLE } from '../../domain/states/agent-wallet.ts';
import { API_KEY_TABLE } from '../../domain/states/api-key.ts';
import { PROPOSAL_TABLE } from '../../domain/states/proposal.ts';
import { SIGNER_STATUSES, SIGNER_TABLE, SWITCHED_STATUSES } from '../../domain/states/signer.ts';
import { TEMPLATE_STATUSES, TEMPLATE_TABLE } from '../../domain/states/template-version.ts';
import {
  IllegalMove,
  allows,
  assertMove,
  isFinal,
  statesOf,
  type TransitionTable,
} from '../../domain/states/table.ts';

/** Every state that some way leads to from `start`. */
function reachable<S extends string>(table: TransitionTable<S>, start: S): ReadonlySet<S> {
  const found = new Set<S>([start]);
  for (const state of found) for (const next of table.moves[state]) found.add(next);
  return found;
}

describe('the tables', () => {
  it('name every state, and each can be reached from the first', () => {
    expect(statesOf(MOVEMENT_TABLE)).toHaveLength(MOVEMENT_STATES.length);
    expect(reachable(MOVEMENT_TABLE, 'PENDING_APPROVAL').size).toBe(MOVEMENT_STATES.length);
    expect(reachable(NODE_TABLE, 'BLOCKED').size).toBe(NODE_STATES.length);
  });

  it('never stay in place', () => {
    for (const state of MOVEMENT_STATES) expect(allows(MOVEMENT_TABLE, state, state)).toBe(false);
    for (const state of NODE_STATES) expect(allows(NODE_TABLE, state, state)).toBe(false);
  });

  it('leave ended movements alone but for the retry of a failed one', () => {
    for (const state of ENDED_STATES)
      expect(MOVEMENT_TABLE.moves[state]).toEqual(state === 'FAILED' ? ['EXECUTING'] : []);
    expect(MOVEMENT_STATES.filter((state) => isFinal(MOVEMENT_TABLE, state))).toEqual([
      'COMPLETED',
      'REJECTED',
      'EXPIRED',
      'CANCELLED',
    ]);
  });

  it('never cancel or fail an unapproved movement', () => {
    expect(MOVEMENT_TABLE.moves.PENDING_APPROVAL).toEqual([
      'APPROVED',
      'REJECTED',
      'EXPIRED',
      'CANCELLED',
    ]);
    expect(allows(MOVEMENT_TABLE, 'PENDING_APPROVAL', 'EXECUTING')).toBe(false);
  });

  it('never set a node CANCELLED once it passed the fence', () => {
    for (const state of IN_FLIGHT_NODE_STATES)
      expect(allows(NODE_TABLE, state, 'CANCELLED')).toBe(false);
    for (const state of IN_FLIGHT_NODE_STATES) expect(isSettled(state)).toBe(false);
    for (const state of SETTLED_NODE_STATES) expect(isSettled(state)).toBe(true);
  });

  it('bring no agent wallet back: an address is one wallet’s for good', () => {
    expect(reachable(AGENT_WALLET_TABLE, 'pending').size).toBe(AGENT_WALLET_STATES.length);
    expect(AGENT_WALLET_STATES.filter((state) => isFinal(AGENT_WALLET_TABLE, state))).toEqual([
      'expired',
      'replaced',
      'refused',
    ]);
    // What was refused is no agent, and an agent is refused no more.
    expect(allows(AGENT_WALLET_TABLE, 'active', 'refused')).toBe(false);
  });

  it('retire a signer only behind a rotation, and switch one only before it', () => {
    expect(reachable(SIGNER_TABLE, 'active').size).toBe(SIGNER_STATUSES.length);
    const before = (to: 'deprecated' | 'retired') =>
      SIGNER_STATUSES.filter((from) => allows(SIGNER_TABLE, from, to));
    expect([before('deprecated'), before('retired')]).toEqual([['active'], ['deprecated']]);
    for (const from of ['deprecated', 'retired'] as const)
      for (const to of SWITCHED_STATUSES) expect(allows(SIGNER_TABLE, from, to)).toBe(false);
  });

  it('bring back no retired template version', () => {
    expect(reachable(TEMPLATE_TABLE, 'active').size).toBe(TEMPLATE_STATUSES.length);
    expect(isFinal(TEMPLATE_TABLE, 'retired')).toBe(true);
  });

  it('bring back neither a revoked key nor a proposal that ended', () => {
    expect(isFinal(API_KEY_TABLE, 'revoked')).toBe(true);
    expect(statesOf(PROPOSAL_TABLE).filter((state) => !isFinal(PROPOSAL_TABLE, state))).toEqual([
      'submitted',
    ]);
  });

  it('throw on a move that they do not have', () => {
    expect(() => assertMove(NODE_TABLE, 'CANCELLED', 'READY')).toThrow(IllegalMove);
    expect(() => assertMove(NODE_TABLE, 'CANCELLED', 'READY')).toThrow(
      'node: no move from CANCELLED to READY',
    );
    expect(() => assertMove(NODE_TABLE, 'FAILED', 'READY')).not.toThrow();
  });

  it('let operators move only where the movement may go', () => {
    const targets = {
      approve: 'APPROVED',
      reject: 'REJECTED',
      resume: 'EXECUTING',
      cancel: 'CANCELLED',
    } as const;
    for (const action of ['approve', 'reject', 'resume', 'cancel'] as const) {
      for (const state of ACTION_STATES[action])
        expect(allows(MOVEMENT_TABLE, state, targets[action])).toBe(true);
    }
  });
});
