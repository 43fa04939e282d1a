/** Where `npm run test:browser` takes its browser from. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium } from '../../dev/bootstrap/chromium.mjs';

const folder = mkdtempSync(join(tmpdir(), 'chromium-'));
afterAll(() => rmSync(folder, { recursive: true }));
const program = (name: string): string => {
  const file = join(folder, name);
  writeFileSync(file, '');
  chmodSync(file, 0o755);
  return file;
};

test('a browser is the one that is named, else the first of the usual names on PATH, else a sentence how to get one', () => {
  expect(() => findChromium({ PATH: folder })).toThrow(/apt-get install chromium.*SVC_CHROMIUM/);
  const chrome = program('google-chrome');
  expect(findChromium({ PATH: `/nowhere:${folder}` })).toBe(chrome);
  const usual = program('chromium');
  expect(findChromium({ PATH: folder })).toBe(usual);
  const own = program('own');
  expect(findChromium({ PATH: folder, SVC_CHROMIUM: own })).toBe(own);
  expect(() => findChromium({ PATH: folder, SVC_CHROMIUM: join(folder, 'none') })).toThrow(
    /SVC_CHROMIUM is .*none/,
  );
});
