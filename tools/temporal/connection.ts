/** Temporal's server of a command: where the settings say it is, as for the service. */
import { createPayloadCodec } from '../../platform/payload-codec.ts';
import { ConfigError, readTemporalAccess } from '../../platform/config.ts';
import { connectTemporal, type Temporal } from '../../platform/temporal.ts';
import { setting } from '../database.ts';
import { ToolError, type ToolIo } from '../io.ts';

/** Runs `work` on a connection; a server that does not answer is a {@link ToolError}. */
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
    });
  } catch (error) {
    throw error instanceof ConfigError ? new ToolError(error.message, { exitCode: 2 }) : error;
  }
}
