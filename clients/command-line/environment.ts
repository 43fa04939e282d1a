/** The only file of the clients that reads the environment variables of the process. */

/** Returns a copy of the current environment variables; the caller may change the copy. */
export function environment(): NodeJS.ProcessEnv {
  return { ...process.env };
}
