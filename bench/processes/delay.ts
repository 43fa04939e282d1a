/** A network between the service and Postgres: each answer comes so many milliseconds later. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { runPart } from './part.ts';

/** Settings of this process. */
export interface DelaySettings {
  readonly port: number;
  readonly upstreamPort: number;
  /** Whole milliseconds of a round trip: half of it each way, an odd one on the way back. */
  readonly networkMs: number;
}

runPart<DelaySettings>(async ({ port, upstreamPort, networkMs }) => {
  const there = Math.floor(networkMs / 2);
  const sockets = new Set<Socket>();
  // Half open, because the end of a connection is as late as its last bytes.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (caller) => {
    const upstream = connect({
      port: upstreamPort,
      host: '127.0.0.1',
      allowHalfOpen: true,
      noDelay: true,
    });
    pass(caller, upstream, there);
    pass(upstream, caller, networkMs - there);
    for (const socket of [caller, upstream]) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
});

/** Timers of equal length end in the order in which they started, so bytes keep their order. */
function pass(from: Socket, to: Socket, ms: number): void {
  const later = (work: () => void): void => {
    if (ms === 0) work();
    else setTimeout(work, ms);
  };
  from.on('data', (bytes) => later(() => void to.write(bytes)));
  from.once('end', () => later(() => void to.end()));
  from.on('error', () => to.destroy());
}
