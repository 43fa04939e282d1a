/** What a PromQL expression names; read only as far as names, matchers and lists of labels. */

export interface Matcher {
  readonly label: string;
  /** What it compares with: one value, or the alternatives of a regular expression. */
  readonly values: readonly string[];
}

export interface NamedMetric {
  readonly name: string;
  readonly matchers: readonly Matcher[];
}

export interface Names {
  readonly metrics: readonly NamedMetric[];
  /** Labels that it groups or joins by. */
  readonly labels: readonly string[];
}

const LABEL_LIST = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const RANGE = /\[[^\]]*\]/g;
const TOKEN =
  /"(?:[^"\\]|\\.)*"|(?<![\w:.])([a-zA-Z_:][\w:]*)\s*(?:\{((?:[^}"]|"(?:[^"\\]|\\.)*")*)\})?/g;
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g;
const OPERATORS = new Set(['and', 'or', 'unless', 'offset', 'bool', 'inf', 'nan']);

export function namesIn(expression: string): Names {
  const lists = [...expression.matchAll(LABEL_LIST)].map(([, list = '']) => list);
  const rest = expression.replace(LABEL_LIST, ' ').replace(RANGE, ' ');
  const metrics = [...rest.matchAll(TOKEN)].flatMap((token) => {
    const [text, name, matchers = ''] = token;
    const isCall = rest.slice(token.index + text.length).startsWith('(');
    if (name === undefined || isCall || OPERATORS.has(name.toLowerCase())) return [];
    return [{ name, matchers: matchersIn(matchers) }];
  });
  return { metrics, labels: lists.flatMap((list) => list.match(/\w+/g) ?? []) };
}

function matchersIn(text: string): readonly Matcher[] {
  return [...text.matchAll(MATCHER)].map(([, label = '', operator = '', value = '']) => ({
    label,
    values: operator.endsWith('~') ? value.split('|') : [value],
  }));
}

/** Returns the expressions of a file of rules or of their tests, and the series of its samples. */
export function expressionsIn(yaml: string): readonly string[] {
  const lines = yaml.split('\n').filter((line) => !/^\s*#/.test(line));
  return lines.flatMap((line, index) => {
    const [, indent, value] = /^([ -]*)(?:expr|series):\s*(.*)$/.exec(line) ?? [];
    if (indent === undefined || value === undefined) return [];
    if (!/^[|>]/.test(value)) return [value.replace(/^(['"])(.*)\1$/, '$2')];
    const block = lines.slice(index + 1);
    const end = block.findIndex((each) => each.trim() !== '' && each.search(/\S/) <= indent.length);
    return [block.slice(0, end === -1 ? undefined : end).join('\n')];
  });
}
