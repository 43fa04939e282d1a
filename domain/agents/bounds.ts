/** Upper bounds for what the key of one authority can use (docs/decisions/0086). */
import { ServiceError } from '../errors.ts';

/**
 * Largest request body in bytes. Plans and payees of agents come from templates, not from the body.
 */
export const AGENT_BODY_BYTES = 65_536;

/** Most open movements that an authority's key may have created in its namespace. */
export const AGENT_OPEN_MOVEMENTS = 200;

/**
 * Active template versions in a namespace; above this count only an administrator adds versions.
 */
export const AGENT_TEMPLATE_VERSIONS = 200;

/** Returns the error for a movement above the limit. */
export function openMovementsExceeded(authority_key: string): ServiceError {
  return new ServiceError('open_movements_exceeded', {
    context: { authority_key, limit: AGENT_OPEN_MOVEMENTS },
  });
}

/** Returns the error for a template version above the limit. */
export function templateVersionsExceeded(authority_key: string): ServiceError {
  return new ServiceError('template_versions_exceeded', {
    context: { authority_key, limit: AGENT_TEMPLATE_VERSIONS },
  });
}
