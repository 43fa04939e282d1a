/** Under which build workers are registered: both parts or none, ours before Temporal's. */
import { ConfigError, readConfig, readDeployment } from '../../platform/config.ts';

const BASE = { SVC_DATABASE_URL: 'postgresql://localhost/x', SVC_AUTH_ENABLED: 'false' };
const build = (settings: NodeJS.ProcessEnv) => readConfig({ ...BASE, ...settings }).build;
function faults(settings: NodeJS.ProcessEnv): readonly string[] {
  try {
    build(settings);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

const OURS = { SVC_TEMPORAL_DEPLOYMENT_NAME: 'fund-workers', SVC_TEMPORAL_BUILD_ID: '1.2.3+abc' };
const THEIRS = { TEMPORAL_DEPLOYMENT_NAME: 'prod/fund', TEMPORAL_WORKER_BUILD_ID: 'v7' };

test('unset there is none, and ours wins over the variables of Temporal', () => {
  expect(build({})).toBeNull();
  expect(build({ TEMPORAL_DEPLOYMENT_NAME: '' })).toBeNull();
  expect(build(THEIRS)).toEqual({ deployment: 'prod/fund', build: 'v7' });
  expect(build({ ...THEIRS, ...OURS })).toEqual({ deployment: 'fund-workers', build: '1.2.3+abc' });
});

test('one without the other stops the start', () => {
  expect(faults({ SVC_TEMPORAL_DEPLOYMENT_NAME: 'd' })).toEqual([
    'SVC_TEMPORAL_BUILD_ID: must be set where SVC_TEMPORAL_DEPLOYMENT_NAME is; set both, or neither',
  ]);
  expect(faults({ TEMPORAL_WORKER_BUILD_ID: 'b' })).toEqual([
    'SVC_TEMPORAL_DEPLOYMENT_NAME: must be set where TEMPORAL_WORKER_BUILD_ID is; set both, or neither',
  ]);
});

test('a name that the server refuses, or that would change a query, stops the start', () => {
  for (const name of ['a.b', 'a:b', '__a', 'a"b', ' a', 'a'.repeat(101)])
    expect(faults({ ...OURS, SVC_TEMPORAL_DEPLOYMENT_NAME: name })).toEqual([
      expect.stringMatching(/^SVC_TEMPORAL_DEPLOYMENT_NAME: must be at most 100 letters/),
    ]);
  for (const name of ['a:b', '__a', 'a"b', "a'b", 'a'.repeat(101)])
    expect(faults({ ...THEIRS, TEMPORAL_WORKER_BUILD_ID: name })).toEqual([
      expect.stringMatching(/^TEMPORAL_WORKER_BUILD_ID: must be at most 100 letters/),
    ]);
});

test('a command reads the deployment alone', () => {
  expect(readDeployment({})).toBeNull();
  expect(readDeployment({ TEMPORAL_DEPLOYMENT_NAME: 'd' })).toBe('d');
  expect(readDeployment({ ...THEIRS, SVC_TEMPORAL_DEPLOYMENT_NAME: 'ours' })).toBe('ours');
  expect(() => readDeployment({ TEMPORAL_DEPLOYMENT_NAME: 'a.b' })).toThrow(ConfigError);
});
