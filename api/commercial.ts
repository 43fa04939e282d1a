/** What the commercial edition adds, through the extension point that anybody else would use. */
import { policyHook } from './auto-approve/policy-hook.ts';
import type { ApiExtension } from './extension.ts';
import { SIGNER_LIFECYCLE_ROLES, signerLifecycleRoutes } from './signers/routes.ts';

export function commercial(settings: { readonly autoApproveDryRun: boolean }): ApiExtension {
  return {
    name: 'commercial',
    routes: signerLifecycleRoutes,
    roles: SIGNER_LIFECYCLE_ROLES,
    autoApprove: policyHook({ dryRun: settings.autoApproveDryRun }),
  };
}
