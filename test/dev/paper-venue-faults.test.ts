import {
  createFaultInjector,
  faultsSchema,
  type FaultInjector,
} from '../../dev/simulators/paper-venue/faults.ts';

type Phase = Parameters<FaultInjector['draw']>[0];
const draws = (count: number, faults: object, phase: Phase = 'submit') => {
  const injector = createFaultInjector();
  injector.set(faultsSchema.parse(faults));
  return Array.from({ length: count }, () => injector.draw(phase));
};

test('the same seed brings the same faults, another seed others', () => {
  const faults = { error_rate: 0.3, lose_answer_rate: 0.2, seed: 42 };
  expect(draws(200, faults)).toEqual(draws(200, faults));
  expect(draws(200, { ...faults, seed: 43 })).not.toEqual(draws(200, faults));
});

test('rates are kept over many calls, and one rate does not shift the other', () => {
  const both = draws(5_000, { error_rate: 0.3, lose_answer_rate: 0.2, seed: 1 });
  expect(both.filter(({ fails }) => fails).length / 5_000).toBeCloseTo(0.3, 1);
  const alone = draws(5_000, { lose_answer_rate: 0.2, seed: 1 });
  expect(alone.map(({ losesAnswer }) => losesAnswer)).toEqual(
    both.map(({ losesAnswer }) => losesAnswer),
  );
});

test('faults hold for the named phases and number of calls', () => {
  const injector = createFaultInjector();
  injector.set(
    faultsSchema.parse({ error_rate: 1, hold_ms: 5, phases: ['submit', 'observe'], remaining: 2 }),
  );
  expect(injector.draw('recover').fails).toBe(false);
  expect(injector.draw('observe')).toMatchObject({ fails: true, hold_ms: 0 });
  expect(injector.current().remaining).toBe(1);
  expect(injector.draw('submit')).toMatchObject({ fails: true, hold_ms: 5 });
  expect(injector.draw('submit').fails).toBe(false);
  expect(injector.current()).toEqual(faultsSchema.parse({}));
});

test('calls are counted with what they suffered', () => {
  const injector = createFaultInjector();
  expect(injector.counts()).toEqual({ calls: 0, failed: 0, answers_lost: 0 });
  injector.set(faultsSchema.parse({ lose_answer_rate: 1, phases: ['submit'] }));
  for (const phase of ['submit', 'submit', 'observe'] as const) injector.draw(phase);
  injector.set(faultsSchema.parse({ error_rate: 1, lose_answer_rate: 1, phases: ['submit'] }));
  injector.draw('submit');
  expect(injector.counts()).toEqual({ calls: 4, failed: 1, answers_lost: 2 });
});

test('transfers suffer only where they are named, and movements not then', () => {
  const injector = createFaultInjector();
  injector.set(faultsSchema.parse({ error_rate: 1, deduplicate: false }));
  expect(injector.draw('observe')).toMatchObject({ fails: true, deduplicate: false });
  for (const phase of ['transfer_submit', 'transfer_find'] as const) {
    expect(injector.draw(phase)).toMatchObject({ fails: false, deduplicate: true });
  }
  const faults = {
    error_rate: 1,
    deduplicate: false,
    hold_ms: 5,
    transfer_outcome: 'failed',
    phases: ['transfer_submit'],
  };
  injector.set(faultsSchema.parse(faults));
  expect(injector.draw('transfer_submit')).toMatchObject({
    fails: true,
    deduplicate: false,
    hold_ms: 5,
    transfer_outcome: 'failed',
  });
  expect(injector.draw('transfer_find')).toMatchObject({
    fails: false,
    deduplicate: false,
    hold_ms: 0,
    transfer_outcome: 'completed',
  });
  for (const phase of ['submit', 'recover'] as const)
    expect(injector.draw(phase)).toMatchObject({ fails: false, deduplicate: true });
});
