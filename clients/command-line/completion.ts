/** Makes self-contained shell completion scripts: no program is started while the user types. */
import { isGroup, type Entry, type Leaf } from './command.ts';
import { flagOf } from './options.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** What the user may type after the words of `path`: the next word, or an option. */
interface Place {
  readonly path: string;
  readonly words: readonly { readonly word: string; readonly about: string }[];
  readonly options: readonly CompletedOption[];
}
interface CompletedOption {
  readonly flag: string;
  readonly about: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

const GLOBAL: readonly CompletedOption[] = [
  { flag: '--profile', about: 'a profile', takesValue: true, choices: [] },
  { flag: '--output', about: 'table or json', takesValue: true, choices: ['table', 'json'] },
  { flag: '--quiet', about: 'no notes', takesValue: false, choices: [] },
  { flag: '--help', about: 'help', takesValue: false, choices: [] },
];

/** Returns the completion script for a shell. */
export function completionOf(shell: Shell, program: string, tree: readonly Entry[]): string {
  const places = placesOf(tree);
  if (shell === 'bash') return bash(program, places);
  return shell === 'zsh' ? zsh(program, places) : fish(program, places);
}

function placesOf(tree: readonly Entry[]): readonly Place[] {
  const word = ({ name, about }: Entry) => ({ word: name, about });
  return [
    { path: '', words: tree.map(word), options: GLOBAL },
    ...tree.flatMap((entry): readonly Place[] =>
      isGroup(entry)
        ? [
            { path: entry.name, words: entry.commands.map(word), options: GLOBAL },
            ...entry.commands.map((leaf) => placeOf(`${entry.name} ${leaf.name}`, leaf)),
          ]
        : [placeOf(entry.name, entry)],
    ),
  ];
}

function placeOf(path: string, leaf: Leaf): Place {
  const own = Object.entries(leaf.options).map(([name, spec]) => ({
    flag: flagOf(name),
    about: spec.about,
    takesValue: spec.value !== undefined,
    choices: spec.choices ?? [],
  }));
  return { path, words: [], options: [...own, ...GLOBAL] };
}

/** Returns the bash script. Words outside the command tree count as arguments and values. */
function bash(program: string, places: readonly Place[]): string {
  const name = program.replace(/\W/g, '_');
  const cases = places
    .map(({ path, words, options }) => {
      const offered = [...words.map(({ word }) => word), ...options.map(({ flag }) => flag)];
      return `    ${quoted(path)}) offered=${quoted(offered.join(' '))} ;;\n`;
    })
    .join('');
  const values = places
    .flatMap(({ path, options }) =>
      options
        .filter(({ takesValue }) => takesValue)
        .map(
          ({ flag, choices }) =>
            `    ${quoted(`${path}:${flag}`)}) COMPREPLY=($(compgen ${choices.length === 0 ? '-f' : `-W ${quoted(choices.join(' '))}`} -- "$word")); return ;;\n`,
        ),
    )
    .join('');
  const groups = places.filter(({ words }) => words.length > 0);
  const steps = groups
    .flatMap(({ path, words }) =>
      words.map(
        ({ word }) => `      ${quoted(`${path}:${word}`)}) at=${quoted(joined(path, word))} ;;\n`,
      ),
    )
    .join('');
  return `# bash completion of ${program}
_${name}() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" at='' offered='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at:\${COMP_WORDS[i]}" in
${steps}    esac
  done
  case "$at:$before" in
${values}  esac
  case "$at" in
${cases}  esac
  COMPREPLY=($(compgen -W "$offered" -- "$word"))
}
complete -F _${name} ${program}
`;
}

function zsh(program: string, places: readonly Place[]): string {
  const name = program.replace(/\W/g, '_');
  const described = (word: string, about: string) =>
    quoted(`${word.replace(/:/g, '\\:')}:${short(about)}`);
  const cases = places
    .map(({ path, words, options }) => {
      const offered = [
        ...words.map(({ word, about }) => described(word, about)),
        ...options.map(({ flag, about }) => described(flag, about)),
      ];
      return `    ${quoted(path)}) offered=(${offered.join(' ')}) ;;\n`;
    })
    .join('');
  const steps = places
    .flatMap(({ path, words }) =>
      words.map(
        ({ word }) => `      ${quoted(`${path}:${word}`)}) at=${quoted(joined(path, word))} ;;\n`,
      ),
    )
    .join('');
  const values = places
    .flatMap(({ path, options }) =>
      options
        .filter(({ takesValue }) => takesValue)
        .map(
          ({ flag, choices }) =>
            `    ${quoted(`${path}:${flag}`)}) ${choices.length === 0 ? '_files' : `compadd -- ${choices.map(quoted).join(' ')}`}; return ;;\n`,
        ),
    )
    .join('');
  return `#compdef ${program}
_${name}() {
  local at='' i
  local -a offered
  for ((i = 2; i < CURRENT; i++)); do
    case "$at:\${words[i]}" in
${steps}    esac
  done
  case "$at:\${words[CURRENT-1]}" in
${values}  esac
  case "$at" in
${cases}  esac
  _describe '${program}' offered
}
if [ "$funcstack[1]" = "_${name}" ]; then _${name} "$@"; else compdef _${name} ${program}; fi
`;
}

function fish(program: string, places: readonly Place[]): string {
  const name = program.replace(/\W/g, '_');
  const steps = places
    .flatMap(({ path, words }) =>
      words.map(
        ({ word }) =>
          `      case ${quoted(`${path}:${word}`)}\n        set at ${quoted(joined(path, word))}\n`,
      ),
    )
    .join('');
  const lines = places.flatMap(({ path, words, options }) => {
    const condition = `-n ${quoted(`test (__${name}_at) = "${path}"`)}`;
    return [
      ...words.map(
        ({ word, about }) =>
          `complete -c ${program} -f ${condition} -a ${quoted(word)} -d ${quoted(short(about))}\n`,
      ),
      ...options.map(({ flag, about, takesValue, choices }) => {
        const value = !takesValue
          ? ''
          : choices.length === 0
            ? ' -r'
            : ` -x -a ${quoted(choices.join(' '))}`;
        return `complete -c ${program} ${condition} -l ${flag.slice(2)}${value} -d ${quoted(short(about))}\n`;
      }),
    ];
  });
  return `# fish completion of ${program}
function __${name}_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch "$at:$word"
${steps}    end
  end
  echo "$at"
end
${lines.join('')}`;
}

function joined(path: string, word: string): string {
  return path === '' ? word : `${path} ${word}`;
}

/** Returns the first clause of a description, because a completion line is short. */
function short(about: string): string {
  return about.split(/[;:(]/)[0]?.trim() ?? '';
}

/** Returns the text in single quotes, which all three shells take literally. */
function quoted(text: string): string {
  return `'${text.replace(/'/g, '’')}'`;
}
