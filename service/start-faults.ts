/**
 * Finds whatever would keep a service from starting or becoming ready, without starting the
 * service.
 */
import type { Duty } from '../platform/config/role.ts';
import type { Values } from '../platform/config/settings.ts';
import type { TemporalAccess } from '../platform/config/temporal.ts';
import { DashboardKeysError, readDashboardKeys } from '../platform/dashboard-keys.ts';
import { createLocalRequestDesk } from '../platform/request-desk.ts';
import { connectTemporal } from '../platform/temporal.ts';
import { readMigrationState, schemaFault } from '../prisma/migration-state.ts';
import { codeOf, connectionFault, databaseSettings, sessionFaults } from './database.ts';
import { openRegistries, RegistriesError } from './registries.ts';

/**
 * Returns the faults of the files that the settings name, and of the servers unless `offline`, each
 * with what to do. A setting that is invalid itself is left out. Checks only what a process with
 * these duties opens.
 */
export async function startFaults(
  values: Partial<Values>,
  temporal: TemporalAccess | null,
  { offline, duties }: { readonly offline: boolean; readonly duties: readonly Duty[] },
): Promise<readonly string[]> {
  const found = await Promise.all([
    declaredFaults(values, duties),
    ...(offline ? [] : [databaseFaults(values), temporalFaults(temporal)]),
  ]);
  return [...dashboardFaults(values), ...found.flat()];
}

async function declaredFaults(
  values: Partial<Values>,
  duties: readonly Duty[],
): Promise<readonly string[]> {
  try {
    const declaring = {
      duties,
      registryFile: values.SVC_REGISTRY_FILE,
      venuesFile: values.SVC_VENUES_FILE,
      signerBackend: values.SVC_LOCAL_SIGNER_BACKEND,
      localSignersForced: values.SVC_LOCAL_SIGNER_FORCED ?? false,
      host: values.SVC_HOST ?? '127.0.0.1',
    };
    // No request is sent here.
    const opened = await openRegistries(declaring, createLocalRequestDesk());
    await Promise.all(
      [opened.executors, opened.signers, opened.venues].map((each) => each.close()),
    );
    return [];
  } catch (error) {
    return error instanceof RegistriesError ? error.faults : [messageOf(error)];
  }
}

function dashboardFaults(values: Partial<Values>): readonly string[] {
  const file = values.SVC_DASHBOARD_WRITER_KEYS_FILE;
  const expected = values.SVC_DASHBOARD_EXPECTED_WRITER_KEYS;
  if (file === undefined || expected === undefined) return [];
  try {
    readDashboardKeys(file, expected);
    return [];
  } catch (error) {
    if (!(error instanceof DashboardKeysError)) throw error;
    return [error.message];
  }
}

async function databaseFaults(values: Partial<Values>): Promise<string[]> {
  const url = values.SVC_DATABASE_URL;
  if (url === undefined) return [];
  try {
    const faults = await sessionFaults(databaseSettings(values, url));
    const fault = schemaFault(await readMigrationState(url));
    return fault === null ? [...faults] : [`SVC_DATABASE_URL: ${fault}`, ...faults];
  } catch (error) {
    return [`SVC_DATABASE_URL: ${connectionFault(codeOf(error))}`];
  }
}

async function temporalFaults(access: TemporalAccess | null): Promise<readonly string[]> {
  if (access === null) return [];
  const temporal = connectTemporal(access);
  try {
    await temporal.check();
    return [];
  } catch (error) {
    const { setting, message } = await temporal.explain(error);
    return [`${setting}: ${message}`];
  } finally {
    await temporal.close().catch(() => undefined);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
