/** A stop of the service while a turn of a background loop does not end. */
import { pino } from 'pino';
import { startLoop } from '../../platform/loop.ts';
import { createStops, endLoops, endParts } from '../../service/stop.ts';

test('a turn that outlasts the stop is named, counts as nothing that was cut, and keeps no lease', async () => {
  const lines: unknown[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const [hangs, rests] = [
    startLoop({ name: 'late looks', pauseMs: 60_000, log, work: () => answered }),
    startLoop({ name: 'retention', pauseMs: 60_000, log, work: () => Promise.resolve() }),
  ];
  let returned = false;
  const leases = {
    stop: () => {
      returned = true;
      return Promise.resolve();
    },
  };
  const stops = createStops();
  stops.work.push({
    name: 'relays and loops',
    stop: () => endLoops([hangs, rests], { leases, milliseconds: 50, log }),
  });
  expect(await endParts(stops, log, Promise.resolve())).toEqual([]);
  expect(returned).toBe(true);
  expect(lines).toMatchObject([{ level: 40, loops: ['late looks'] }]);
  answer();
  await hangs.stop();
});

test('a loop that cannot be stopped is still reported', async () => {
  const log = pino({ level: 'silent' });
  const broken = { stop: () => Promise.reject(new Error('no such loop')) };
  const stops = createStops();
  stops.work.push({
    name: 'relays and loops',
    stop: () => endLoops([broken], { leases: broken, milliseconds: 50, log }),
  });
  expect(await endParts(stops, log, Promise.resolve())).toEqual(['relays and loops']);
});
