/**
 * A busy process checks its timers before it reads: an idle connection, or a request, seems to be
 * late although its bytes were sent in time and wait in the kernel. Closing such a connection is a
 * reset for its caller. So a connection is closed for its time only after one more read.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Calls back once everything that had arrived by now was read. */
export function afterReading(then: () => void): void {
  // Immediates come after the sockets in every turn of the loop.
  setImmediate(then);
}

type Refuse = (error: NodeJS.ErrnoException, socket: Socket) => void;

/**
 * Makes the server read before it ends a connection for its time. `refuse` answers what is not
 * HTTP, and what did not arrive in time.
 */
export function readBeforeTimeOuts(server: Server, refuse: Refuse): void {
  /** The last request of a connection whose headers have arrived. */
  const last = new WeakMap<Socket, IncomingMessage>();
  const awaited = new WeakMap<Socket, (request: IncomingMessage) => void>();
  server.prependListener('request', (request: IncomingMessage) => {
    last.set(request.socket, request);
    awaited.get(request.socket)?.(request);
  });

  // With a listener the server leaves it to us to close an idle connection.
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
   * The server has stopped its own timer for the arriving request, so this is another: the same
   * time once more, and no third.
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
