/** Stands between a client and a server of TCP, and can break all that goes through it. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface CutConnections {
  readonly port: number;
  /** Ends every connection on the client's side; the server's side notices when it writes. */
  cut(): void;
  close(): Promise<void>;
}

export async function openCutConnections(port: number): Promise<CutConnections> {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    open.add(near).add(far);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.pipe(other);
      one.on('error', () => undefined);
      one.once('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const each of open) each.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        cut();
      }),
  };
}
