/** Connects a command to the Temporal server that the service's settings name. */
import { createPayloadCodec } from '../../platform/payload-codec.ts';
import { ConfigError, readTemporalAccess } from '../../platform/config.ts';
import { connectTemporal, type Temporal } from '../../platform/temporal.ts';
import { setting } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';

/** Runs `work` on a connection; throws a {@link ToolError} when the server does not answer. */
export async function withTemporal<T>(
  io: ToolIo,
  work: (temporal: Temporal) => Promise<T>,
): Promise<T> {
  const temporal = connect(io);
  try {
    await temporal.check().catch(async (error: unknown) => {
      const { setting: name, message } = await temporal.explain(error);
      throw new ToolError(`${name}: ${message}`, { cause: error });
    });
    return await work(temporal);
  } finally {
    await temporal.close().catch(() => undefined);
  }
}

function connect(io: ToolIo): Temporal {
  const keys = setting(io, 'SVC_PAYLOAD_KEYS') ?? [];
  try {
    return connectTemporal({
      ...readTemporalAccess(io.env),
      payloadCodec: keys.length === 0 ? undefined : createPayloadCodec(keys),
      turns: {
        strategyShares: setting(io, 'SVC_STRATEGY_SHARES_CSV') ?? new Map(),
        strategyPriorities: setting(io, 'SVC_STRATEGY_PRIORITIES_CSV') ?? new Map(),
      },
    });
  } catch (error) {
    throw error instanceof ConfigError ? new ToolError(error.message, { exitCode: 2 }) : error;
  }
}
