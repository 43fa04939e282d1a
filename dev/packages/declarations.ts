/**
 * Collects the type declarations of a package: those of its entries, and all to which these refer.
 */
import { join, posix, relative } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../stack/ports.ts';

/**
 * Returns the declarations to which the entries refer, by path in the project
 * (`executor-kit/index.d.ts`), without those that no public type needs.
 *
 * @throws Error when the compiler cannot declare something.
 */
export function emitDeclarations(entries: readonly string[]): ReadonlyMap<string, string> {
  const emitted = emitAll(entries.map((source) => join(ROOT, source)));
  const needed = new Map<string, string>();
  const take = (file: string): void => {
    const text = emitted.get(file);
    if (text === undefined) throw new Error(`${file} is imported and was not declared`);
    if (needed.has(file)) return;
    needed.set(file, asJavaScript(text));
    for (const { fileName } of ts.preProcessFile(text).importedFiles)
      if (fileName.startsWith('.'))
        take(posix.join(posix.dirname(file), fileName).replace(/\.ts$/, '.d.ts'));
  };
  for (const source of entries) take(source.replace(/\.ts$/, '.d.ts'));
  return needed;
}

function emitAll(entries: readonly string[]): ReadonlyMap<string, string> {
  const file = join(ROOT, 'tsconfig.json');
  const { config } = ts.readConfigFile(file, (path) => ts.sys.readFile(path)) as {
    readonly config: { readonly compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson(
    {
      ...config.compilerOptions,
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      types: ['node'],
      rootDir: ROOT,
      outDir: ROOT,
    },
    ROOT,
  );
  const emitted = new Map<string, string>();
  const program = ts.createProgram([...entries], options);
  const { diagnostics } = program.emit(undefined, (path, text) => {
    emitted.set(relative(ROOT, path).replaceAll('\\', '/'), text);
  });
  const faults = diagnostics.map(({ messageText }) =>
    ts.flattenDiagnosticMessageText(messageText, '\n'),
  );
  if (faults.length > 0) throw new Error(`the package cannot be declared:\n${faults.join('\n')}`);
  return emitted;
}

/**
 * Returns declarations with imports of `.js` instead of `.ts`: the package contains `.js` files
 * with declarations next to them.
 */
function asJavaScript(text: string): string {
  return ts
    .preProcessFile(text)
    .importedFiles.filter(({ fileName }) => fileName.startsWith('.'))
    .reverse()
    .reduce((changed, { fileName, pos }) => {
      const quoted = changed.indexOf(fileName, pos);
      const end = quoted + fileName.length;
      return `${changed.slice(0, quoted)}${fileName.replace(/\.ts$/, '.js')}${changed.slice(end)}`;
    }, text);
}
