/** Enrolment: this browser makes an operator's key and sends its secret to the service once. */
import { createDashboardClient } from '../../clients/http/dashboard.ts';
import { dashboardFingerprint } from '../../clients/http/sign.ts';
import { importSecret, keepKey, newSecret, type KeptKey } from './keys.ts';

/**
 * The code of an enrolment link; null without one. Removed from the address bar before anything
 * else runs.
 */
export const enrolmentCode = takeCode();

function takeCode(): string | null {
  const [, code = null] = /^#enrol=([A-Za-z0-9_-]{43})$/.exec(location.hash) ?? [];
  if (location.hash.startsWith('#enrol')) history.replaceState(null, '', location.pathname);
  return code;
}

/**
 * Operator name that signs the enrolment request: the link does not contain the operator's name,
 * the response does.
 */
const NEW_OPERATOR = 'enrol';

/**
 * An attempt to enrol. Its secret stays the same, so that it can be sent again after a lost
 * response. The text of the secret exists only in this object and is never stored.
 */
export interface Enrolment {
  handOver(): Promise<KeptKey>;
}

export function createEnrolment(code: string): Enrolment {
  const secret = newSecret();
  const imported = importSecret(secret);
  return {
    handOver: async () => {
      const key = await imported;
      const client = createDashboardClient({
        baseUrl: location.origin,
        key: { operator: NEW_OPERATOR, secret: key },
        retries: 0,
      });
      const { body } = await client.send({
        method: 'POST',
        target: '/dashboard/enrol',
        body: { code, secret },
      });
      const { operator } = body as { readonly operator: string };
      // Computed from the key in this browser, not taken from the response.
      const fingerprint = await dashboardFingerprint({ operator, secret: key });
      const kept = { operator, key, fingerprint };
      await keepKey(kept);
      return kept;
    },
  };
}
