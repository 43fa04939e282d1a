/** Enrolment: this browser makes a key and hands its secret over, once. */
import { createDashboardClient } from '../../clients/http/dashboard.ts';
import { dashboardFingerprint } from '../../clients/http/sign.ts';
import { importSecret, keepKey, newSecret, type KeptKey } from './keys.ts';

/** The code of an enrolment link; taken out of the address before anything else runs. */
export const enrolmentCode = takeCode();

function takeCode(): string | null {
  const [, code = null] = /^#enrol=([A-Za-z0-9_-]{43})$/.exec(location.hash) ?? [];
  if (location.hash.startsWith('#enrol')) history.replaceState(null, '', location.pathname);
  return code;
}

/** Signs the hand-over: the link does not say whose it is, and the answer does. */
const NEW_OPERATOR = 'enrol';

/**
 * An attempt to enrol: its secret stays the same, so that after a lost answer it can be handed over
 * once more. The text of the secret lives as long as this object, and is stored nowhere.
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
      // Of the key that is here, whatever the answer says.
      const fingerprint = await dashboardFingerprint({ operator, secret: key });
      const kept = { operator, key, fingerprint };
      await keepKey(kept);
      return kept;
    },
  };
}
