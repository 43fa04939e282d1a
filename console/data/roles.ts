/** Which role a write needs, so that a page says why it offers none; the service decides. */
import { useSession } from './session.ts';
import { OPERATIONS, type OperationId } from '../../clients/http/operations.ts';

/** Writes that operators may send. Every other one is an administrator's. */
const OF_OPERATORS: ReadonlySet<OperationId> = new Set<OperationId>([
  ...(['createMovement', 'approveMovement', 'rejectMovement', 'resumeMovement'] as const),
  ...(['retryMovement', 'cancelMovement', 'resetMovementAllowances'] as const),
  ...(['acknowledgeMovement', 'resolveMovementNode', 'reassignNodePayment'] as const),
  ...(['cancelNodeTransaction', 'recommendRoutes', 'createCapitalTransfer'] as const),
  ...(['resolveCapitalTransfer', 'topUpAgentWallet', 'redeliverCallback'] as const),
]);

/** Writes of agents' keys, which no operator of the dashboard may send. */
const OF_AGENTS: ReadonlySet<OperationId> = new Set<OperationId>([
  'createTemplateProposal',
  'createBridgeAttempt',
]);

/** Null where the role may call the operation; else why not, in a sentence. */
export function roleRefusal(role: string | null, id: OperationId): string | null {
  if (role === null) return 'No session is open.';
  if (OPERATIONS[id].method === 'GET') return null;
  if (OF_AGENTS.has(id)) return 'Only agents do this.';
  if (role === 'admin') return null;
  if (!OF_OPERATORS.has(id)) return 'Only an administrator may do this.';
  return role === 'operator' ? null : 'This key reads only.';
}

/** The role of this session; null while none is open. */
export function useRole(): string | null {
  const session = useSession();
  return session.kind === 'open' ? session.whoami.role : null;
}
