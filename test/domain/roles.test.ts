/** Which templates lie in an agent's namespace, by names that are nearly its own. */
import {
  agentNamespace,
  mayMove,
  mayReadTemplate,
  namespaceIn,
  namespaceOf,
  type Caller,
} from '../../domain/roles.ts';
import { agentOf, inNamespace } from '../../store/namespaces.ts';

const caller = (role: Caller['role'], of?: string): Caller => ({
  client_id: 'c',
  key_id: 'k',
  role,
  ...(of === undefined ? {} : { namespace: agentNamespace(of) }),
});
const agent = caller('agent', 'a');

describe('an agent of the authority a', () => {
  test.each([
    'agent/ab/x',
    'agent/A/x',
    'agent/a.b/x',
    'agent/a',
    'agent/a ',
    'agent//a/x',
    'agent/\u0430/x',
    'agent/a\u200b/x',
    'agent/b/agent/a/x',
    'agent/',
    'agent/a%2Fx',
  ])('neither moves nor reads %j', (key) => {
    expect([mayMove(agent, key), mayReadTemplate(agent, key)]).toEqual([false, false]);
  });

  test.each(['a/x', 'agents/a/x', 'Agent/a/x', 'x/agent/a/x', 'system/x'])(
    'reads %j, which is no agent’s, and does not move it',
    (key) => {
      expect([mayMove(agent, key), mayReadTemplate(agent, key)]).toEqual([false, true]);
    },
  );

  test.each(['agent/a/x', 'agent/a/b/x', 'agent/a/agent/b/x'])('moves and reads %j', (key) => {
    expect([mayMove(agent, key), mayReadTemplate(agent, key)]).toEqual([true, true]);
    expect(namespaceIn(key)).toBe('agent/a');
  });
});

test('an agent without a namespace has nothing, and others have all', () => {
  const bare = caller('agent');
  for (const key of ['agent/a/x', 'agent//x', 'agent/undefined/x', 'x'])
    expect(mayMove(bare, key)).toBe(false);
  expect([namespaceOf(bare), agentOf(namespaceOf(bare))]).toEqual(['agent/', '']);
  for (const role of ['admin', 'operator'] as const)
    expect([namespaceOf(caller(role)), mayMove(caller(role), 'agent/a/x')]).toEqual([
      undefined,
      true,
    ]);
});

test('names of authorities are no patterns for the database', () => {
  expect(inNamespace('agent/a_b')).toEqual({ template_key: { startsWith: 'agent/a\\_b/' } });
  expect(inNamespace('agent/a.b-c')).toEqual({ template_key: { startsWith: 'agent/a.b-c/' } });
});
