/** What a body means is what its text says: parsing changes nothing without a word. */
import { parseBody } from '../../../api/http/body.ts';
import { ServiceError } from '../../../domain/errors.ts';

const parsed = (text: string): unknown =>
  parseBody({
    bytes: Buffer.from(text),
    contentType: 'application/json',
    contentEncoding: undefined,
  });

function refused(text: string): unknown {
  try {
    parsed(text);
  } catch (error) {
    if (error instanceof ServiceError) return error.context['issues'];
    throw error;
  }
  throw new Error('the body was taken');
}

test('a number that cannot be held is refused by its place, never rounded', () => {
  const issue = {
    code: 'invalid_number',
    message: 'is a number that cannot be held exactly; write it as a string',
  };
  expect(refused('{"input_params":{"n":[9007199254740993,1e-400]}}')).toEqual([
    { path: 'input_params.n[0]', ...issue },
    { path: 'input_params.n[1]', ...issue },
  ]);
  expect(parsed('{"n":[0.1,1.50,1e3,-0,9007199254740992,0.30000000000000004]}')).toEqual({
    n: [0.1, 1.5, 1000, -0, 9007199254740992, 0.30000000000000004],
  });
});

test('a name that an object has twice is refused by its place', () => {
  expect(refused('{"intent":{"amount":"1","amount":"9"}}')).toEqual([
    { path: 'intent.amount', code: 'repeated', message: 'appears more than once' },
  ]);
  expect(parsed('{"a":{"x":1},"b":{"x":1}}')).toEqual({ a: { x: 1 }, b: { x: 1 } });
});

test('what cannot be stored is refused first, and a name in an answer can be written', () => {
  expect(refused('{"a":1e400,"b":9007199254740993}')).toEqual([
    { path: 'a', code: 'invalid_number', message: 'is out of range' },
  ]);
  // The first `a` is lost, and so is not looked at by the other checks.
  expect(refused('{"a":{"\\u0000":1,"\\u0000":2},"a":1}')).toEqual([
    { path: 'a.\ufffd', code: 'repeated', message: 'appears more than once' },
    { path: 'a', code: 'repeated', message: 'appears more than once' },
  ]);
});
