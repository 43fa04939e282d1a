/**
 * Changes the allowlist for commands: recorded as changed by the tool, with the cooling period of
 * the service's settings.
 */
import {
  ADDRESS_PROBLEMS,
  looksLike,
  normalAddress,
  type ChainFamily,
} from '../../domain/allowlist/address.ts';
import { coolingSeconds } from '../../platform/config.ts';
import { isId } from '../../platform/ids.ts';
import { readEvmAddress } from '../../platform/evm-address.ts';
import { issuesLine } from '../../platform/issues.ts';
import { allowlistLabel } from '../../platform/seen-text.ts';
import {
  allowAddress,
  readAlike,
  setAllowedAddress,
  setAllowedChain,
  type Allowed,
  type AllowlistChange,
} from '../../store/allowlist.ts';
import { actorName } from '../acting.ts';
import { setting, warnUnvouched, withDatabase, type DatabaseOption } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';

export interface ChangeOptions extends DatabaseOption {
  readonly reason: string;
}

export interface AddOptions extends ChangeOptions {
  readonly family: ChainFamily;
  readonly address: string;
  readonly chainId?: string;
  readonly label?: string;
}

const LONGEST = 1_000;

/**
 * Adds an address, or throws a {@link ToolError} and writes nothing. Lists addresses that look
 * alike on standard error.
 */
export async function add(options: AddOptions, io: ToolIo): Promise<Allowed> {
  const { family: chain_family } = options;
  const label = labelOf(options);
  const normal = normalAddress(chain_family, options.address, readEvmAddress);
  if (!normal.ok)
    throw new ToolError(`The address ${ADDRESS_PROBLEMS[normal.problem]}.`, { exitCode: 2 });
  const chain_id = chainOf(options.chainId ?? 'any');
  if (chain_family === 'cex' && chain_id !== null)
    throw new ToolError('An address of family cex has no chain id.', { exitCode: 2 });
  const key = { chain_family, address: normal.address, chain_id };
  const change = changeOf(options, io);
  return withDatabase(options, io, async (db) => {
    const alike = (await readAlike(db, key)).filter((address) => looksLike(address, key.address));
    if (alike.length > 0)
      io.err(`Looks like ${alike.join(', ')}, which is on the list: compare every character.\n`);
    return allowAddress(db, { ...key, label }, change);
  });
}

/** Revokes a row, or makes a revoked row active again. */
export function setActive(
  options: ChangeOptions & { readonly id: string },
  active: boolean,
  io: ToolIo,
): Promise<Allowed> {
  const change = changeOf(options, io);
  return withDatabase(options, io, async (db) =>
    known(await setAllowedAddress(db, idOf(options), active, change), options.id),
  );
}

/** Moves a row to another chain, or to all chains. */
export async function setChain(
  options: ChangeOptions & { readonly id: string; readonly chainId: string },
  io: ToolIo,
): Promise<Allowed> {
  const change = changeOf(options, io);
  const chain_id = chainOf(options.chainId);
  const moved = await withDatabase(options, io, async (db) =>
    known(await setAllowedChain(db, idOf(options), chain_id, change), options.id),
  );
  if (moved.outcome === 'taken')
    throw new ToolError(
      'The list has that address on that chain already; revoke this row instead.',
    );
  return moved;
}

function changeOf({ reason }: ChangeOptions, io: ToolIo): AllowlistChange {
  if (reason.trim() === '' || reason.length > LONGEST)
    throw new ToolError('--reason must say why, in up to 1000 characters.', { exitCode: 2 });
  warnUnvouched(io, 'change');
  return {
    by: actorName(io),
    reason,
    cooling_seconds: coolingSeconds({
      enabled: setting(io, 'SVC_ALLOWLIST_COOLING_PERIOD_ENABLED') === true,
      hours: setting(io, 'SVC_ALLOWLIST_COOLING_PERIOD_HOURS') ?? 0,
    }),
    audit: (action, id) => ({
      action,
      entity_type: 'allowed_address',
      entity_key: id,
      outcome: 'success',
      reason,
      details: { tool: 'fundadmin' },
    }),
  };
}

function labelOf({ label }: AddOptions): string | null {
  if (label === undefined) return null;
  const read = allowlistLabel.safeParse(label);
  if (!read.success)
    throw new ToolError(`${issuesLine(read.error, { whole: '--label' })}.`, { exitCode: 2 });
  return read.data;
}

function chainOf(text: string): number | null {
  if (text === 'any') return null;
  if (!/^[1-9][0-9]{0,9}$/.test(text) || Number(text) > 2_147_483_647)
    throw new ToolError('--chain-id must be a whole number up to 2147483647, or any.', {
      exitCode: 2,
    });
  return Number(text);
}

function idOf({ id }: { readonly id: string }): string {
  if (!isId(id))
    throw new ToolError('--id must be the id of a row; see allowlist list.', { exitCode: 2 });
  return id.toLowerCase();
}

function known(allowed: Allowed | null, id: string): Allowed {
  if (allowed === null) throw new ToolError(`The allowlist has no row ${id}.`);
  return allowed;
}
