/**
 * Everything of the platform that the service reads time or chance from, replaced for code that
 * runs in a simulated process. Whoever imports this file first has replaced it; the simulation's
 * own code, which runs in no process, goes on with the real ones. What the service does not use and
 * the simulation does not have is refused there, so that no run depends on it by accident.
 */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import nodeTimers from 'node:timers';
import timers from 'node:timers/promises';
import { randomOf } from '../../../dev/simulators/paper-venue/faults.ts';
import { inProcess, type Machine, type Process, type Timer } from './machine.ts';

/** What is replaced. A test holds this list against what the code below assigns. */
export const REPLACED = [
  'Date',
  'performance.now',
  'performance.timeOrigin',
  'process.hrtime',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'AbortSignal.timeout',
  'node:timers/promises.setTimeout',
  'node:timers/promises.setImmediate',
  'node:crypto.randomUUID',
  'node:crypto.randomBytes',
  'node:crypto.randomInt',
  'node:crypto.randomFillSync',
  'crypto.getRandomValues',
  'Math.random',
  'fetch',
] as const;

/** Time and chance that a simulated process has none of: whoever asks for it gets an error. */
export const REFUSED = [
  'process.uptime',
  'performance.mark',
  'performance.measure',
  'node:timers.setTimeout',
  'node:timers.setInterval',
  'node:timers/promises.setInterval',
  'node:timers/promises.scheduler.wait',
  'node:crypto.randomFill',
  'node:crypto.generateKey',
  'node:crypto.generateKeySync',
  'node:crypto.generateKeyPair',
  'node:crypto.generateKeyPairSync',
  'node:crypto.generatePrime',
  'node:crypto.generatePrimeSync',
  'crypto.subtle.generateKey',
] as const;

const real = {
  Date,
  performanceNow: performance.now.bind(performance),
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  setImmediate,
  random: Math.random,
};

let machine: Machine | null = null;
let next: () => number = Math.random;
const hosts = new Map<string, SimulatedHost>();

/** A request of a simulated process to another machine. */
export interface SimulatedRequest {
  readonly host: string;
  readonly body: string;
}
type SimulatedHost = (request: SimulatedRequest) => Promise<Response>;

const PLACES: Readonly<Record<string, object>> = {
  process,
  performance,
  crypto: globalThis.crypto,
  'node:crypto': crypto,
  'node:timers': nodeTimers,
  'node:timers/promises': timers,
};

/** From now on requests of simulated processes to this host are answered here. */
export function serve(host: string, answer: SimulatedHost): void {
  hosts.set(host, answer);
}

/** From now on simulated processes see the time and the chance of this machine. */
export function use(current: Machine, seed: number): void {
  machine = current;
  next = randomOf(seed);
  hosts.clear();
}

/** The machine and the process of the calling code; null outside of a simulated process. */
function here(): { readonly machine: Machine; readonly process: Process } | null {
  const process = inProcess.getStore();
  return machine === null || process === undefined ? null : { machine, process };
}

const nowOf = (at: { readonly machine: Machine; readonly process: Process }): number =>
  at.machine.now + at.process.skewMs;

class SimulatedDate extends real.Date {
  constructor(...args: unknown[]) {
    const at = args.length === 0 ? here() : null;
    if (at !== null) super(nowOf(at));
    else super(...(args as []));
  }
  static override now(): number {
    const at = here();
    return at === null ? real.Date.now() : nowOf(at);
  }
}

// Others know a date by the name of its class, as the SDK does.
Object.defineProperty(SimulatedDate, 'name', { value: 'Date' });

/** What the replaced functions return in place of a timer of the platform. */
class Handle {
  timer: Timer | null = null;
  unref(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
}

function schedule(
  at: { readonly machine: Machine; readonly process: Process },
  handle: Handle,
  ms: number,
  call: () => void,
): void {
  const { machine: on, process } = at;
  handle.timer = on.timer({
    at: on.now + Math.max(1, ms),
    process,
    label: 'timer',
    go: () => inProcess.run(process, call),
  });
}

function cancel(handle: unknown): boolean {
  if (!(handle instanceof Handle)) return false;
  if (handle.timer !== null) handle.timer.cancelled = true;
  handle.timer = null;
  return true;
}

function simulatedTimeout(call: (...args: unknown[]) => void, ms = 1, ...args: unknown[]): unknown {
  const at = here();
  if (at === null) return real.setTimeout(call, ms, ...args);
  const handle = new Handle();
  schedule(at, handle, ms, () => call(...args));
  return handle;
}

function simulatedInterval(
  call: (...args: unknown[]) => void,
  ms = 1,
  ...args: unknown[]
): unknown {
  const at = here();
  if (at === null) return real.setInterval(call, ms, ...args);
  const handle = new Handle();
  const again = (): void =>
    schedule(at, handle, ms, () => {
      again();
      call(...args);
    });
  again();
  return handle;
}

function bytes(length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => Math.floor(next() * 256)));
}

function fill<T extends NodeJS.ArrayBufferView>(view: T): T {
  const { length } = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(bytes(length));
  return view;
}

/** Lets `simulated` do it in a simulated process, and `original` everywhere else. */
function inside<Args extends unknown[], R>(
  original: (...args: Args) => R,
  simulated: (...args: Args) => R,
): (...args: Args) => R {
  return (...args) => (here() === null ? original(...args) : simulated(...args));
}

const originalFetch = globalThis.fetch;
const originalTimeout = timers.setTimeout;
const originalAbort = AbortSignal.timeout.bind(AbortSignal);

function simulatedSleep<T>(ms = 1, value?: T, options: { signal?: AbortSignal } = {}): Promise<T> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new DOMException('The operation was aborted', 'AbortError'));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve(value as T);
    }, ms);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

function simulatedAbort(ms: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new DOMException('timed out', 'TimeoutError')), ms);
  return controller.signal;
}

/** Nothing leaves the simulation: a host that no world serves does not exist. */
function simulatedFetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const { host } = new URL(input instanceof Request ? input.url : input);
  const { body, signal } = init;
  const answer = hosts.get(host);
  if (answer === undefined || (body != null && typeof body !== 'string'))
    return Promise.reject(new TypeError('fetch failed'));
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal?.reason as Error);
    if (signal?.aborted === true) return stop();
    signal?.addEventListener('abort', stop, { once: true });
    answer({ host, body: body ?? '' })
      .then(resolve, reject)
      .finally(() => signal?.removeEventListener('abort', stop));
  });
}

function uuid(): `${string}-${string}-${string}-${string}-${string}` {
  const raw = bytes(16);
  raw[6] = ((raw[6] ?? 0) & 0x0f) | 0x40;
  raw[8] = ((raw[8] ?? 0) & 0x3f) | 0x80;
  const hex = raw.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A clock that only runs forward, and starts anew with the machine; in milliseconds. */
function uptime(): number {
  const at = here();
  return at === null ? 0 : at.machine.now - at.machine.begin + 1_000;
}

function simulatedHrtime([seconds, nanos]: [number, number] = [0, 0]): [number, number] {
  const since = uptime() * 1_000_000 - (seconds * 1_000_000_000 + nanos);
  return [Math.floor(since / 1_000_000_000), since % 1_000_000_000];
}

/** The step that is under way ends behind what waits for a turn of the event loop. */
function simulatedImmediate(call: (...args: unknown[]) => void, ...args: unknown[]): unknown {
  const at = here();
  const done = at?.machine.turning();
  return real.setImmediate(() => {
    done?.();
    call(...args);
  });
}

Object.assign(globalThis, {
  Date: SimulatedDate,
  setTimeout: simulatedTimeout,
  setImmediate: inside(
    real.setImmediate as unknown as typeof simulatedImmediate,
    simulatedImmediate,
  ),
  setInterval: simulatedInterval,
  clearTimeout: (handle: unknown) => {
    if (!cancel(handle)) real.clearTimeout(handle as NodeJS.Timeout);
  },
  clearInterval: (handle: unknown) => {
    if (!cancel(handle)) real.clearInterval(handle as NodeJS.Timeout);
  },
});
performance.now = inside(real.performanceNow, uptime);
const { timeOrigin } = performance;
Object.defineProperty(performance, 'timeOrigin', {
  configurable: true,
  enumerable: true,
  get: () => {
    const at = here();
    return at === null ? timeOrigin : nowOf(at) - uptime();
  },
});
const { hrtime } = process;
const { bigint } = hrtime;
process.hrtime = Object.assign(inside(hrtime as typeof simulatedHrtime, simulatedHrtime), {
  bigint: inside(bigint, () => BigInt(uptime()) * 1_000_000n),
}) as typeof hrtime;
globalThis.fetch = inside(originalFetch, simulatedFetch as typeof originalFetch);
Math.random = inside(real.random, () => next());
AbortSignal.timeout = inside(originalAbort, simulatedAbort);
const { randomUUID, randomBytes, randomInt, randomFillSync } = crypto;
type Fill = (view: NodeJS.ArrayBufferView) => NodeJS.ArrayBufferView;
Object.assign(crypto, {
  randomUUID: inside(randomUUID as () => ReturnType<typeof uuid>, uuid),
  randomBytes: inside(randomBytes as (length: number) => Buffer, bytes),
  randomInt: inside(randomInt as (low: number, high?: number) => number, (low, high) =>
    high === undefined ? Math.floor(next() * low) : low + Math.floor(next() * (high - low)),
  ),
  randomFillSync: inside(randomFillSync as Fill, fill),
});
const ofTheWeb = globalThis.crypto.getRandomValues.bind(globalThis.crypto);
globalThis.crypto.getRandomValues = inside(
  ofTheWeb as unknown as Fill,
  fill,
) as unknown as typeof ofTheWeb;
const { setImmediate: originalTurn } = timers;
timers.setTimeout = inside(
  originalTimeout as typeof simulatedSleep,
  simulatedSleep,
) as typeof originalTimeout;
timers.setImmediate = inside(
  originalTurn as <T>(value?: T) => Promise<T>,
  <T>(value?: T) => new Promise<T>((resolve) => setImmediate(() => resolve(value as T))),
) as typeof originalTurn;
for (const path of REFUSED) refuse(path);
syncBuiltinESMExports();

/** From now on a simulated process cannot call it. */
function refuse(path: string): void {
  const names = path.split('.');
  const name = names.pop() ?? '';
  const [place = '', ...inner] = names;
  let owner: object = PLACES[place] ?? globalThis;
  for (const each of inner) owner = Reflect.get(owner, each) as object;
  const original = Reflect.get(owner, name) as (...args: unknown[]) => unknown;
  const refused = function (this: unknown, ...args: unknown[]): unknown {
    if (here() !== null) throw new Error(`the simulation has no ${path}`);
    return Reflect.apply(original, this, args);
  };
  Object.defineProperty(owner, name, { configurable: true, writable: true, value: refused });
}
