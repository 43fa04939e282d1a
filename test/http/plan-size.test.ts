/** How large a plan may become, and what a caller may not say in the place of its template. */
import {
  create,
  detail,
  expectInvalid,
  expectRefusal,
  movementBody,
  must,
  noop,
  post,
  registered,
  sql,
  transfer,
  type ErrorBody,
} from '../support/http.ts';

const KIB = 1_024;
/** `{"note":"xxx…"}` of so many bytes. */
const noted = (bytes: number) => ({ note: 'x'.repeat(bytes - '{"note":""}'.length) });
const chain = (length: number) =>
  registered(Array.from({ length }, (_, index) => noop(`step-${String(index)}`)));

test('what a template promises, and where it takes money from, is said by the template alone', async () => {
  const plan = await chain(1);
  for (const key of ['completion_assurance', 'amount_ref', 'match_from', 'burn_from', 'tag']) {
    const body = movementBody(plan, { input_params: { node_config: { [key]: 'intent' } } });
    expectInvalid(await post('/movements', body), `input_params.node_config.${key}`);
    expectInvalid(
      await post('/movements', body, { 'Dry-Run': 'true' }),
      `input_params.node_config.${key}`,
    );
  }
  await create(plan, {
    input_params: { amount_ref: 'intent', node_config: { reference: 'amount_ref' } },
  });
  // Anything but an object is ignored, as ever.
  await create(plan, { input_params: { node_config: ['amount_ref'] } });
});

test('node_config takes 64 KiB and not a byte more, counted as it is sent', async () => {
  const plan = await chain(1);
  const movement = await create(plan, { input_params: { node_config: noted(64 * KIB) } });
  expect((await detail(movement.movement_id)).request_state).toBe('PENDING_APPROVAL');
  for (const node_config of [noted(64 * KIB + 1), { note: 'é'.repeat(33 * KIB) }]) {
    const refused = await post('/movements', movementBody(plan, { input_params: { node_config } }));
    expectRefusal(refused, 422, 'plan_too_large', { part: 'node_config', limit_bytes: 64 * KIB });
  }
});

test('a plan takes 1 MiB with all its nodes, whatever makes it large', async () => {
  const [short, long] = [await chain(1), await chain(60)];
  const plan = { part: 'plan', limit_bytes: KIB * KIB };
  const spread = movementBody(long, { input_params: { node_config: noted(18 * KIB) } });
  expectRefusal(await post('/movements', spread), 422, 'plan_too_large', plan);
  const preview = await must(
    200,
    post<{ blocking_reasons: readonly ErrorBody['detail'][] }>('/movements', spread, {
      'Dry-Run': 'true',
    }),
  );
  expect(preview).toMatchObject({
    would_create: false,
    compiled_plan_hash: null,
    blocking_reasons: [{ error: 'plan_too_large', ...plan }],
  });
  // Every part of it fits, and only the whole does not.
  const whole = movementBody(short, { input_params: noted(KIB * KIB - 400) });
  expectRefusal(await post('/movements', whole), 422, 'plan_too_large', plan);
  await create(short, { input_params: noted(KIB * KIB - 2 * KIB) });
});

test('a request of the largest size on many nodes is refused', async () => {
  const long = await chain(60);
  const body = movementBody(long, { input_params: { node_config: noted(KIB * KIB - KIB) } });
  expectRefusal(await post('/movements', body), 422, 'plan_too_large', {
    part: 'node_config',
    limit_bytes: 64 * KIB,
  });
  expect(await sql('SELECT 1 FROM movements WHERE template_key = $1', [long.template_key])).toEqual(
    [],
  );
});

test('a plan that names thousands of payees is refused, not looked through for each of its nodes', async () => {
  const plan = await registered([transfer('one'), transfer('two'), transfer('three')]);
  const payees = Array.from(
    { length: 6_000 },
    (_, index) => `0x${String(index).padStart(40, '1')}`,
  );
  const refused = await post('/movements', movementBody(plan, { input_params: { payees } }));
  expectRefusal(refused, 422, 'plan_too_large', { part: 'payees', limit: 5_000 });
});
