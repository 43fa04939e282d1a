/**
 * The role that each write needs, so that a page can say why a write is not offered. The service
 * enforces it.
 */
import { useSession } from './session.ts';
import { OPERATIONS, type OperationId } from '../../clients/http/operations.ts';

/** Writes that operators may send. All other writes need an administrator. */
const OF_OPERATORS: ReadonlySet<OperationId> = new Set<OperationId>([
  ...(['createMovement', 'approveMovement', 'rejectMovement', 'resumeMovement'] as const),
  ...(['retryMovement', 'cancelMovement', 'resetMovementAllowances'] as const),
  ...(['acknowledgeMovement', 'resolveMovementNode', 'reassignNodePayment'] as const),
  ...(['cancelNodeTransaction', 'recommendRoutes', 'createCapitalTransfer'] as const),
  ...(['resolveCapitalTransfer', 'topUpAgentWallet', 'redeliverCallback'] as const),
  ...(['approveChangeRequest', 'rejectChangeRequest', 'withdrawChangeRequest'] as const),
  ...(['challengeMovementApproval', 'challengeChangeRequestApproval'] as const),
  ...(['challengePasskey', 'offerPasskey'] as const),
  ...(['withdrawApproval', 'withdrawChangeRequestApproval'] as const),
]);

/** Writes that only agents' keys may send, and no operator of the dashboard. */
const OF_AGENTS: ReadonlySet<OperationId> = new Set<OperationId>([
  'createTemplateProposal',
  'createBridgeAttempt',
]);

/** Returns null when the role may call the operation; otherwise the reason as a sentence. */
export function roleRefusal(role: string | null, id: OperationId): string | null {
  if (role === null) return 'No session is open.';
  if (OPERATIONS[id].method === 'GET') return null;
  if (OF_AGENTS.has(id)) return 'Only agents do this.';
  if (role === 'admin') return null;
  if (!OF_OPERATORS.has(id)) return 'Only an administrator may do this.';
  return role === 'operator' ? null : 'This key reads only.';
}

/** Returns the role of this session; null while no session is open. */
export function useRole(): string | null {
  const session = useSession();
  return session.kind === 'open' ? session.whoami.role : null;
}
