/** Search attributes on servers that let this service do less than the development server does. */
import { pino } from 'pino';
import { SEARCH_ATTRIBUTES } from '../../domain/messages.ts';
import { ensureSearchAttributes, type AttributeServer } from '../../platform/search-attributes.ts';

const NAMES = Object.values(SEARCH_ATTRIBUTES);
const FIRST = SEARCH_ATTRIBUTES.state;
const OTHERS = NAMES.filter((name) => name !== FIRST);
const ALL = Object.fromEntries(NAMES.map((name) => [name, 2]));
const COLUMNS = Object.fromEntries(
  NAMES.map((name, index) => [`Keyword0${String(index + 1)}`, name]),
);
const refused = (code: number): (() => Promise<never>) => {
  return () => Promise.reject(Object.assign(new Error('Request unauthorized.'), { code }));
};

let lines: { level: number; msg: string }[] = [];
const log = pino(
  { level: 'info' },
  { write: (line: string) => void lines.push(JSON.parse(line) as { level: number; msg: string }) },
);
beforeEach(() => {
  lines = [];
});

/** A server that has some attributes; `override` replaces some of its calls. */
function server(
  has: Record<string, number>,
  override: Partial<AttributeServer> = {},
): AttributeServer & { readonly added: string[] } {
  const added: string[] = [];
  const add = (name: string): Promise<void> => {
    added.push(name);
    has[name] = 2;
    return Promise.resolve();
  };
  return {
    list: () => Promise.resolve({ ...has }),
    add,
    aliases: () => Promise.resolve({}),
    ...override,
    added,
  };
}
const ensure = (of: AttributeServer): Promise<void> =>
  ensureSearchAttributes(of, { namespace: 'team', log });

describe('search attributes', () => {
  it('are added where they are missing, and only those', async () => {
    const some = server({ [FIRST]: 2, Theirs: 3 });
    await ensure(some);
    expect(some.added).toEqual(OTHERS);
    const all = server({ ...ALL });
    await ensure(all);
    expect(all.added).toEqual([]);
  });

  it('may be added by another process at the same time', async () => {
    await ensure(server({ ...ALL }, { list: listings({}, ALL), add: refused(6) }));
    await expect(
      ensure(server({}, { list: listings({}, { ...ALL, [FIRST]: 3 }), add: refused(6) })),
    ).rejects.toThrow(`${FIRST} (Int)`);
  });

  it('of another type are a fault that names what to run', async () => {
    const wrong = ensure(server({ ...ALL, [FIRST]: 1 }));
    await expect(wrong).rejects.toThrow(`another type than Keyword: ${FIRST} (Text)`);
    await expect(wrong).rejects.toThrow(
      `search-attribute remove --yes --namespace team --name ${FIRST}`,
    );
  });

  it.each([7, 12, 16])(
    'that may not be added are no fault when they exist (status %i)',
    async (code) => {
      await ensure(server({ ...ALL }, { add: refused(code) }));
      await ensure(
        server(
          {},
          { list: refused(code), add: refused(code), aliases: () => Promise.resolve(COLUMNS) },
        ),
      );
      expect(lines).toEqual([]);
    },
  );

  it('that are missing and may not be added are a fault that names exactly what to run', async () => {
    const missing = ensure(server({ [FIRST]: 2 }, { add: refused(7) }));
    const command = OTHERS.map((name) => `--name ${name} --type Keyword`).join(' ');
    await expect(missing).rejects.toThrow(
      `temporal operator search-attribute create --namespace team ${command}`,
    );
    await expect(missing).rejects.toThrow(
      `tcld namespace search-attributes add --namespace team ${OTHERS.map((name) => `--search-attribute "${name}=Keyword"`).join(' ')}`,
    );
    const otherType = { ...COLUMNS, Keyword01: 'Theirs', Int01: FIRST };
    await expect(
      ensure(server({}, { list: refused(7), aliases: () => Promise.resolve(otherType) })),
    ).rejects.toThrow(`${FIRST} (Int)`);
  });

  it('that cannot even be seen leave a warning with the command, and the service goes on', async () => {
    await ensure(server({}, { list: refused(7), add: refused(7) }));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: 40,
      msg: expect.stringContaining('search-attribute create --namespace team --name'),
    });
  });

  it('pass on every other fault, to be tried again', async () => {
    await expect(ensure(server({}, { list: refused(14) }))).rejects.toMatchObject({ code: 14 });
    await expect(ensure(server({}, { add: refused(3) }))).rejects.toMatchObject({ code: 3 });
  });
});

/** Answers each in turn. */
function listings(...answers: readonly Record<string, number>[]): AttributeServer['list'] {
  let index = 0;
  return () => Promise.resolve(answers[Math.min(index++, answers.length - 1)] ?? {});
}
