/** The workflow code as the worker loads it; kept on disk by content, since bundling takes seconds. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const WORKFLOWS = join(ROOT, 'workflows', 'index.ts');

/** CommonJS, because the SDK loads it with require, in Node and inside the bundle alike. */
export const FAILURE_CONVERTER = join(ROOT, 'workflows', 'failure-converter.cjs');

/** Interceptors of runs, for processes that trace. */
export const TRACE_HEADERS = join(ROOT, 'workflows', 'trace-headers.ts');

export interface BundleOptions {
  /** Put message and stack of failures into payloads, for a codec to encrypt. */
  readonly encodeFailures?: boolean;
  /** Let the Temporal UI show call stacks of waiting runs, and errors their stacks; costs a sixth of the workflow thread. */
  readonly callStacks?: boolean;
  /** Hand the trace of a run to its activities. */
  readonly traceHeaders?: boolean;
}

/** The SDK takes a stack for every promise that a workflow makes; without frames that is cheap. */
const NO_CALL_STACKS = 'Error.stackTraceLimit = 0; ';

/** The path of an up-to-date bundle in `cacheDir`, made when there is none for the present sources. */
export async function workflowBundle(cacheDir: string, options: BundleOptions = {}): Promise<string> {
  const path = join(cacheDir, `workflows-${await sourceHash(options)}.js`);
  if (existsSync(path)) return path;
  const { code } = await bundleWorkflows(options);
  await mkdir(cacheDir, { recursive: true });
  const partial = `${path}.${process.pid}`;
  await writeFile(partial, code);
  await rename(partial, path);
  return path;
}

/** Bundles the workflows from their sources. */
export async function bundleWorkflows({ encodeFailures = false, callStacks = false, traceHeaders = false }: BundleOptions = {}): Promise<{
  readonly code: string;
}> {
  const quiet = (): void => undefined;
  const { code } = await bundleWorkflowCode({
    workflowsPath: WORKFLOWS,
    ...(encodeFailures ? { failureConverterPath: FAILURE_CONVERTER } : {}),
    ...(traceHeaders ? { workflowInterceptorModules: [TRACE_HEADERS] } : {}),
    logger: { log: quiet, trace: quiet, debug: quiet, info: quiet, warn: console.warn, error: console.error },
  });
  // In front of everything and on its first line, so that the source map's lines stay true.
  return { code: callStacks ? code : NO_CALL_STACKS + code };
}

/** Over every file the bundle can be made of: our sources and the lockfile that pins the rest. */
async function sourceHash({ encodeFailures = false, callStacks = false, traceHeaders = false }: BundleOptions): Promise<string> {
  const hash = createHash('sha256').update(`${String(callStacks)} ${String(traceHeaders)}`);
  const files = [...(await sources(join(ROOT, 'workflows'))), ...(await sources(join(ROOT, 'domain'))), join(ROOT, 'package-lock.json')];
  if (encodeFailures) files.push(FAILURE_CONVERTER);
  for (const file of files.sort()) hash.update(file.slice(ROOT.length)).update(await readFile(file));
  return hash.digest('hex').slice(0, 16);
}

async function sources(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ts')).map((entry) => join(entry.parentPath, entry.name));
}
