/** `fundadmin console verify`: a page of which one byte was changed is noticed. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveConsole } from '../../api/console/serve.ts';
import { readConsole, type ConsoleFiles } from '../../platform/console-files.ts';
import { verifyConsole } from '../../tools/console/verify.ts';

const built = readConsole();
let server: Server | undefined;
afterEach(() => server?.close());

async function served(files: ConsoleFiles): Promise<string> {
  const serve = serveConsole(files, () => undefined);
  server = createServer((request, response) => {
    try {
      serve(request.url ?? '', request, response);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

/** The page with another file of this name. */
const withFile = (name: string, bytes: Buffer | null): ConsoleFiles => ({
  ...built,
  files: new Map(
    [...built.files].flatMap(([each, own]): [string, Buffer][] =>
      each !== name ? [[each, own]] : bytes === null ? [] : [[each, bytes]],
    ),
  ),
});

test('the page of this release has no fault', async () => {
  const { files, faults } = await verifyConsole(await served(built));
  expect(faults).toEqual([]);
  expect(files).toBeGreaterThan(5);
});

test('one changed byte is noticed, in each file', async () => {
  const files = [...built.files].map(([name, bytes]): [string, Buffer] => {
    const changed = Buffer.from(bytes);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    return [name, changed];
  });
  const { faults } = await verifyConsole(await served({ ...built, files: new Map(files) }));
  expect(faults).toHaveLength(files.length);
  const paths = files.map(([name]) => `/console/${name === 'index.html' ? '' : name} `);
  expect(
    paths.filter((path) => !faults.some((fault) => fault.startsWith(`${path}has other bytes`))),
  ).toEqual([]);
});

test('a missing part and another policy are noticed', async () => {
  const part = [...built.files.keys()].find((name) => name.endsWith('.js')) ?? '';
  const gone = await verifyConsole(await served(withFile(part, null)));
  expect(gone.faults).toContain(`/console/${part} is answered with 404.`);
  server?.close();
  const other = {
    ...built,
    manifest: { ...built.manifest, import_map: `sha256-${'A'.repeat(43)}=` },
  };
  const { faults } = await verifyConsole(await served(other), built);
  expect(faults).toHaveLength(Object.keys(built.manifest.files).length);
});
