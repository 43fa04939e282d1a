/** The library that measures text is loaded only for text that needs it. */
import { jest } from '@jest/globals';
import { painter } from '../../clients/command-line/paint.ts';

jest.unstable_mockModule('cli-table3', () => {
  throw new Error('cli-table3 is loaded');
});
const { table } = await import('../../clients/command-line/table.ts');

const drawn = (text: string) =>
  table([{ text }], [{ title: 'TEXT', of: (row) => row.text }], painter(false));

test('ASCII text needs none, and neither does what is printed as an escape', async () => {
  expect(await drawn('250.5 USDC')).toBe('TEXT\n250.5 USDC\n');
  expect(await drawn('\u001b[2J')).toBe('TEXT\n\\u001b[2J\n');
});

test('other text does', async () => {
  await expect(drawn('Zürich')).rejects.toThrow('cli-table3 is loaded');
});
