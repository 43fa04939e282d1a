/** Replaces the part of a page that a program writes, between two comments. */

/**
 * Returns `page` with `lines` between `<!-- name: … -->` and `<!-- /name -->`, in place of the old
 * text. Throws when the page has no such comments.
 */
export function between(page: string, name: string, lines: readonly string[]): string {
  const begins = new RegExp(`^<!-- ${name}: .*-->$`, 'm').exec(page);
  const end = page.indexOf(`<!-- /${name} -->`);
  if (begins === null || end < begins.index)
    throw new Error(`the page has no place marked for ${name}`);
  const kept = page.slice(0, begins.index + begins[0].length);
  return [kept, '', ...lines, '', page.slice(end)].join('\n');
}
