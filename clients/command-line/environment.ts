/** The one place of the clients that reads the environment of its process. */

/** The environment as it is now; a caller may change its copy. */
export function environment(): NodeJS.ProcessEnv {
  return { ...process.env };
}
