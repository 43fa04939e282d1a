/**
 * A busy process checks its timers before it reads: a connection or a request seems late although
 * its bytes arrived in time and wait in the kernel. Closing such a connection resets it for the
 * caller. So a connection is closed for lateness only after one more read.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Calls `then` once everything that has arrived by now was read. */
export function afterReading(then: () => void): void {
  // Node runs immediates after socket events in every turn of the event loop.
  setImmediate(then);
}

type Refuse = (error: NodeJS.ErrnoException, socket: Socket) => void;

/**
 * Makes the server read once more before it ends a late connection. `refuse` answers input that is
 * not HTTP or did not arrive in time.
 */
export function readBeforeTimeOuts(server: Server, refuse: Refuse): void {
  /** The last request of each connection whose headers have arrived. */
  const last = new WeakMap<Socket, IncomingMessage>();
  const awaited = new WeakMap<Socket, (request: IncomingMessage) => void>();
  server.prependListener('request', (request: IncomingMessage) => {
    last.set(request.socket, request);
    awaited.get(request.socket)?.(request);
  });

  // A server with this listener does not close idle connections, so this code must close them.
  server.on('timeout', (socket: Socket) => {
    const read = socket.bytesRead;
    afterReading(() => {
      if (socket.bytesRead === read) socket.destroy();
    });
  });

  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') {
      refuse(error, socket);
      return;
    }
    const [read, before] = [socket.bytesRead, last.get(socket)];
    const inBody = before?.complete === false;
    afterReading(() => {
      const request = inBody || last.get(socket) !== before ? last.get(socket) : undefined;
      if (request?.complete === true) return;
      if (socket.bytesRead === read) refuse(error, socket);
      else grant(request, error, socket);
    });
  });

  /**
   * Waits once more for the arriving request, whose timer the server has already stopped: the same
   * time again, but only once.
   */
  const grant = (
    request: IncomingMessage | undefined,
    error: NodeJS.ErrnoException,
    socket: Socket,
  ): void => {
    const ms = request === undefined ? server.headersTimeout : server.requestTimeout;
    const timer = setTimeout(() => {
      refuse(error, socket);
    }, ms);
    const stop = (): void => {
      clearTimeout(timer);
      awaited.delete(socket);
    };
    const arrived = (whole: IncomingMessage): void => {
      if (whole.complete) stop();
      else whole.once('close', stop);
    };
    socket.once('close', stop);
    if (request === undefined) awaited.set(socket, arrived);
    else arrived(request);
  };
}
