/**
 * The paper venue as a process: says on one line that it is ready, ends on a signal or with its
 * parent.
 */
import { readSettings } from './settings.ts';
import { startVenue } from './start.ts';

const venue = await startVenue(readSettings(process.env));

let ending = false;
const end = (): void => {
  if (ending) return;
  ending = true;
  void venue.close().finally(() => process.exit(0));
};
process.on('SIGTERM', end);
process.on('SIGINT', end);
// The parent holds the other end of this channel; it closes even when the parent is killed.
process.on('disconnect', end);

process.stdout.write(`${JSON.stringify({ ready: true, port: venue.port })}\n`);
