// Progress lines on standard error, so that standard output stays for results.

/**
 * @typedef {object} Step A slow step whose progress is shown until it ends.
 * @property {(text: string) => void} detail
 * @property {(note?: string) => void} done
 * @property {(note?: string) => void} fail
 * @property {() => void} cancel
 */

const REPEAT_MS = 10_000;

/**
 * Writes one line of progress.
 *
 * @param {string} line
 */
export function report(line) {
  process.stderr.write(`${line}\n`);
}

/**
 * Starts a slow step. While it runs, a line every few seconds shows the time so far; `done` and
 * `fail` end it with one line.
 *
 * @param {string} label
 * @param {(line: string) => void} write
 * @returns {Step}
 */
export function startStep(label, write = report) {
  const started = Date.now();
  let detail = '';
  const seconds = () => ((Date.now() - started) / 1000).toFixed(1);
  const timer = setInterval(
    () => write(`  … ${label} (${Math.round(seconds())} s)${detail}`),
    REPEAT_MS,
  );
  timer.unref();
  return {
    detail: (text) => {
      detail = text === '' ? '' : `: ${text}`;
    },
    done: (note = '') => {
      clearInterval(timer);
      write(`  ✓ ${label} (${seconds()} s)${note === '' ? '' : `: ${note}`}`);
    },
    fail: (note = '') => {
      clearInterval(timer);
      write(`  ✗ ${label} (${seconds()} s)${note === '' ? '' : `: ${note}`}`);
    },
    cancel: () => clearInterval(timer),
  };
}
