/** Returns the commercial edition's extension; third parties use the same extension point. */
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
