/** What a signal to leave a build says, and what a server can do with it. */
import { nameOfBuild, readLeaveBuild, wayOn } from '../../domain/builds.ts';

test('a signal that lacks a part, or has another way, is none', () => {
  const whole = { deployment: 'd', build: 'b', by: 'restart' };
  expect(readLeaveBuild({ ...whole, more: 1 })).toEqual(whole);
  expect(readLeaveBuild({ ...whole, by: 'continue' })).toEqual({ ...whole, by: 'continue' });
  for (const wrong of [
    null,
    'leave',
    [],
    {},
    { ...whole, by: 'close' },
    { ...whole, by: undefined },
    { ...whole, build: 7 },
    { ...whole, build: '' },
    { ...whole, deployment: null },
    { ...whole, deployment: '' },
  ])
    expect(readLeaveBuild(wrong)).toBeNull();
});

test('a build is named as the search attribute names it', () => {
  expect(nameOfBuild({ deployment: 'd', build: 'b.1' })).toBe('d:b.1');
});

test.each([
  ['1.29.1', 'restart'],
  ['1.29.9-rc', 'restart'],
  ['0.31.0', 'restart'],
  ['1.3.0', 'restart'],
  ['1.30.0', 'continue'],
  ['1.30.2', 'continue'],
  ['v1.31.0-154.4', 'continue'],
  ['2.0.0', 'continue'],
  ['', 'restart'],
  ['newest', 'restart'],
])('on a server of version %j runs leave by %s', (version, way) => {
  expect(wayOn(version)).toBe(way);
});
