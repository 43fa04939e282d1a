/** What the commercial edition adds, through the extension point that third parties use too. */
import { policyHook } from './auto-approve/policy-hook.ts';
import { BRIDGE_REGISTRY_ROLES, bridgeRegistryRoutes } from './bridges/routes.ts';
import type { ApiExtension } from './extension.ts';
import { SIGNER_LIFECYCLE_ROLES, signerLifecycleRoutes } from './signers/routes.ts';

export function commercial(settings: { readonly autoApproveDryRun: boolean }): ApiExtension {
  return {
    name: 'commercial',
    routes: [...signerLifecycleRoutes, ...bridgeRegistryRoutes],
    roles: { ...SIGNER_LIFECYCLE_ROLES, ...BRIDGE_REGISTRY_ROLES },
    autoApprove: policyHook({ dryRun: settings.autoApproveDryRun }),
  };
}
