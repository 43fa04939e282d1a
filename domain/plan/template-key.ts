/** Which texts are keys of templates; their length is checked elsewhere. */

/**
 * A key may contain `/`, since it is the end of a path, but nothing that makes the path ambiguous.
 */
export const TEMPLATE_KEY =
  /^[^\u0000-\u001f\u007f-\u009f%\\#?/]+(\/[^\u0000-\u001f\u007f-\u009f%\\#?/]+)*$/;

/** Returns whether a key has a segment that a path would leave out. */
export function hasDotSegment(key: string): boolean {
  return key.split('/').some((part) => part === '.' || part === '..');
}
