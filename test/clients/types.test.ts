/** The types of the client are those of the API: a wrong call does not compile. */
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../../dev/stack/ports.ts';

test('typed-calls.ts compiles, and each of its wrong calls would not', () => {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (path) =>
    ts.sys.readFile(path),
  ) as { readonly config: { readonly compilerOptions: object } };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);
  const program = ts.createProgram([join(ROOT, 'test/clients/typed-calls.ts')], {
    ...options,
    types: ['node'],
  });
  const faults = ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1;
    return `${String(line)}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
  expect(faults).toEqual([]);
});
