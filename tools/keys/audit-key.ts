/** `fundadmin keys audit-key`: derives the audit key. */
import { auditKeys } from '../../platform/audit-chain.ts';
import { setting } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';

/** Derives SVC_AUDIT_KEY from SVC_SECRETS_KEY; MACs of earlier rows stay valid. */
export function auditKeyText(io: ToolIo): string {
  const keys = setting(io, 'SVC_SECRETS_KEY');
  if (keys === undefined)
    throw new ToolError(
      'Set SVC_SECRETS_KEY (or SVC_SECRETS_KEY_FILE) to the value that the service has.',
      { exitCode: 2 },
    );
  return auditKeys(keys)
    .map((key) => key.export().toString('base64'))
    .join(',');
}
