/** Untrusted text inside a Mermaid diagram. */

/**
 * Control characters, halves of surrogate pairs, and what reorders or hides text: shown as the
 * replacement character.
 */
const UNSHOWABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const REPLACEMENT = 0xfffd;

/**
 * The text as it may stand between two double quotes. Only ASCII letters and digits stay as they
 * are, and a single `-` or `_` between two of them; everything else becomes `#<code point>;`, which
 * Mermaid turns back into that character after it has read the diagram. So no text can end its
 * string, begin a statement, a comment or a directive, or be taken for Markdown, HTML or an icon.
 * Spaces are among what is replaced: Mermaid's lexer takes any line that holds `direction LR` for
 * that statement, in a string too.
 */
export function mermaidText(text: string): string {
  const characters = [...text];
  const plain = (at: number): boolean => /^[A-Za-z0-9]$/.test(characters[at] ?? '');
  return characters
    .map((character, at) => {
      if (plain(at)) return character;
      // Two in a row may have a meaning; one between letters has none.
      if ((character === '-' || character === '_') && plain(at - 1) && plain(at + 1))
        return character;
      return `#${String(UNSHOWABLE.test(character) ? REPLACEMENT : (character.codePointAt(0) ?? REPLACEMENT))};`;
    })
    .join('');
}

/** Up to so many characters; the rest is an ellipsis. */
export function shortened(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}
