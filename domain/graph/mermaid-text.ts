/** Writes untrusted text into a Mermaid diagram. */

/**
 * Control characters, halves of surrogate pairs, and characters that reorder or hide text: each is
 * shown as the replacement character.
 */
const UNSHOWABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
const REPLACEMENT = 0xfffd;

/**
 * Escapes a text for use between two double quotes. Only ASCII letters and digits stay, and a
 * single `-` or `_` between two of them. Every other character becomes `#<code point>;`, which
 * Mermaid turns back into that character after it has parsed the diagram. So no text can end its
 * string, start a statement, a comment or a directive, or be read as Markdown, HTML or an icon.
 * Spaces are escaped too: Mermaid's lexer takes any line that contains `direction LR` for that
 * statement, even in a string.
 */
export function mermaidText(text: string): string {
  const characters = [...text];
  const plain = (at: number): boolean => /^[A-Za-z0-9]$/.test(characters[at] ?? '');
  return characters
    .map((character, at) => {
      if (plain(at)) return character;
      // Two of these characters in a row may have a meaning; a single one between letters has none.
      if ((character === '-' || character === '_') && plain(at - 1) && plain(at + 1))
        return character;
      return `#${String(UNSHOWABLE.test(character) ? REPLACEMENT : (character.codePointAt(0) ?? REPLACEMENT))};`;
    })
    .join('');
}

/** Cuts the text to at most `most` characters; an ellipsis replaces the rest. */
export function shortened(text: string, most: number): string {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}
