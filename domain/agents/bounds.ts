/** How much an authority's key can take up, however often it is used (docs/decisions/0086). */
import { ServiceError } from '../errors.ts';

/** Bytes of one request's body. Plans and payees of agents come from templates, not from it. */
export const AGENT_BODY_BYTES = 65_536;

/** Movements that its key created in its namespace and that have not ended. */
export const AGENT_OPEN_MOVEMENTS = 200;

/** Active template versions of its namespace beyond which only an administrator adds one. */
export const AGENT_TEMPLATE_VERSIONS = 200;

/** The refusal of one movement too many. */
export function openMovementsExceeded(authority_key: string): ServiceError {
  return new ServiceError('open_movements_exceeded', {
    context: { authority_key, limit: AGENT_OPEN_MOVEMENTS },
  });
}

/** The refusal of one version too many. */
export function templateVersionsExceeded(authority_key: string): ServiceError {
  return new ServiceError('template_versions_exceeded', {
    context: { authority_key, limit: AGENT_TEMPLATE_VERSIONS },
  });
}
