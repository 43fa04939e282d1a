/** Describes a failed request for an agent: the rule that refused, and what would satisfy it. */
import {
  ApiError,
  ChangeRequestedError,
  ClientUsageError,
  UnreachableError,
} from '../http/errors.ts';
import { plain } from './plain.ts';

export interface Refusal {
  /** The service's error code; for an error without a code, a code of this client. */
  readonly rule: string;
  readonly why: string;
  readonly satisfy: string;
  readonly retryAfterSeconds: number | null;
  readonly requestId: string | null;
}

const LONGEST = 600;

/** What the agent can do, by error code. Other codes get general advice. */
const SATISFY: Readonly<Record<string, string>> = {
  invalid_request: 'correct the named fields, and send the request again',
  unauthenticated:
    'the key is revoked or wrong: ask an admin for a new key; a repeat will not help',
  forbidden: 'ask an operator or admin to do this; no agent may',
  agent_namespace_mismatch: 'use only the namespace that whoami returns',
  agent_authority_not_found: 'ask an admin which authority this key is bound to',
  movement_not_found:
    'use an id that list_movements returns: it lists the movements of your namespace',
  template_not_found: 'use a template_key and version that list_routes returns',
  idempotency_conflict: 'this idempotency_key was used for another request: send a new key',
  max_notional_exceeded:
    'ask for no more than your authority allows, or ask an admin to promote a proposal for more',
  asset_not_allowed:
    'use an asset that your authority allows, or ask an admin to promote a proposal for it',
  chain_not_allowed:
    'use a chain that your authority allows, or ask an admin to promote a proposal for it',
  address_not_allowlisted: 'ask an admin to add the address to the allowlist',
  cutover_mode_active: 'no new movement can start now: try again later',
  rate_limited: 'wait as long as the answer says, then try again',
  overloaded: 'wait as long as the answer says, then try again',
  dependency_unavailable: 'the service accepted nothing: try again later',
};

/** Returns the refusal that an error stands for; null for an unexpected error. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof ApiError) return ofAnswer(error);
  if (error instanceof ChangeRequestedError)
    return {
      rule: 'waits_for_approvals',
      why: `it waits for approvals of people; change request ${error.changeRequestId}; nothing was changed yet`,
      satisfy:
        'people approve or reject it, and no agent may; once it is approved, the same request with the same idempotency_key gives the result',
      retryAfterSeconds: null,
      requestId: null,
    };
  if (error instanceof UnreachableError)
    return {
      rule: 'unreachable',
      why: plain(error.message, LONGEST),
      satisfy: 'ask again later',
      retryAfterSeconds: null,
      requestId: null,
    };
  if (error instanceof ClientUsageError)
    return {
      rule: 'not_possible',
      why: plain(error.message, LONGEST),
      satisfy: 'correct the request',
      retryAfterSeconds: null,
      requestId: null,
    };
  return null;
}

/** Returns true when a write may have been carried out although no answer confirms that. */
export function isInDoubt(error: unknown): boolean {
  return (error instanceof ApiError || error instanceof UnreachableError) && error.maybeTaken;
}

function ofAnswer(error: ApiError): Refusal {
  const { rawCode, status, message, context, issues, requestId, retryAfterSeconds } = error;
  const rule = rawCode === null ? `http_${String(status)}` : plain(rawCode, 64);
  const places = issues.map(({ path, message: what }) => `${path || 'the request'}: ${what}`);
  const parts = [message, ...places.slice(0, 8), ...factsOf(context)];
  return {
    rule,
    why: plain(parts.map((part) => part.replace(/\.$/, '')).join('; '), LONGEST),
    satisfy: satisfying(rule, status),
    retryAfterSeconds,
    requestId: requestId === null ? null : plain(requestId, 128),
  };
}

function satisfying(rule: string, status: number): string {
  const known = Object.hasOwn(SATISFY, rule) ? SATISFY[rule] : undefined;
  if (known !== undefined) return known;
  return status >= 500 ? 'ask again later' : 'correct the request by its message, or ask an admin';
}

/** Returns up to 8 context fields of an error as `name: value`, values cut to 160 characters. */
function factsOf(context: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(context)
    .filter(([name]) => name !== 'request_id')
    .slice(0, 8)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return `${name}: ${plain(text, 160)}`;
    });
}
