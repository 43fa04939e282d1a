/** Patterns of addresses and tags, as exchanges show them. */

/**
 * Returns whether the whole text fits the pattern. A pattern that JavaScript cannot parse counts as
 * fitting: the exchange checks the text itself.
 */
export function fits(pattern: string | null, text: string): boolean {
  if (pattern === null) return true;
  try {
    return new RegExp(`^(?:${pattern})$`).test(text);
  } catch {
    return true;
  }
}
