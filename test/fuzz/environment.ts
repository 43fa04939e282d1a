/** The fuzzer's Python. */
import { join } from 'node:path';
import { pythonFor } from '../support/python.ts';

/** The interpreter that has exactly what `requirements.txt` pins. */
export function fuzzPython(signal: AbortSignal, log: (line: string) => void): Promise<string> {
  const requirements = join(import.meta.dirname, 'requirements.txt');
  return pythonFor({ name: 'fuzz-venv', requirements, called: 'the fuzzer' }, signal, log);
}
