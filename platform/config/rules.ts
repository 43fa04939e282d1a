/** Rules that combine several settings. A setting that has a fault of its own is ignored here. */
import { readDatabaseAddress } from '../../domain/database-address.ts';
import type { Duty } from './role.ts';
import type { SettingName, Values } from './settings.ts';

const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

/** Returns a fault for each broken rule. */
export function ruleFaults(
  values: Partial<Values>,
  duties: readonly Duty[],
  isUnset: (name: SettingName) => boolean,
): readonly string[] {
  const faults: string[] = [];
  if (values.SVC_AUTH_ENABLED === true && isUnset('SVC_SECRETS_KEY')) {
    faults.push(
      duties.includes('api')
        ? 'SVC_SECRETS_KEY: authentication needs it, for the secrets of callers are stored encrypted'
        : 'SVC_AUDIT_KEY: a worker needs this key to sign its audit rows; set it to the output of `fundadmin keys audit-key`, or set SVC_SECRETS_KEY',
    );
  }
  if (
    values.SVC_AUTH_ENABLED === false &&
    values.SVC_HOST !== undefined &&
    !LOOPBACK.includes(values.SVC_HOST)
  ) {
    faults.push(
      'SVC_HOST: without authentication the service listens on loopback only (127.0.0.1, ::1 or localhost)',
    );
  }
  const address = readDatabaseAddress(values.SVC_DATABASE_URL ?? '');
  if (
    values.SVC_DATABASE_POOLER === 'transaction' &&
    !('faults' in address) &&
    address.options !== null
  )
    faults.push(
      'SVC_DATABASE_URL: behind a transaction pooler a session has no settings of its own; remove `options` from the address, and set them on the role (ALTER ROLE … SET …)',
    );
  if (/^\/dashboard(\/|$)/.test(values.SVC_API_PREFIX ?? '')) {
    faults.push(
      'SVC_API_PREFIX: /dashboard is reserved for the dashboard, which authenticates in another way; choose another prefix',
    );
  }
  const sendsCallbacks =
    duties.includes('worker') && (values.SVC_CALLBACK_ALLOWED_HOSTS_CSV ?? []).length > 0;
  if (sendsCallbacks && isUnset('SVC_CALLBACK_HMAC_SECRET')) {
    faults.push(
      'SVC_CALLBACK_HMAC_SECRET: callbacks are never sent unsigned: set it, or leave SVC_CALLBACK_ALLOWED_HOSTS_CSV empty',
    );
  }
  if (isUnset('SVC_TRACING_OTLP_URL') && values.SVC_TRACING_OTLP_HEADERS !== undefined) {
    faults.push('SVC_TRACING_OTLP_HEADERS: has no use without SVC_TRACING_OTLP_URL');
  }
  return faults;
}
