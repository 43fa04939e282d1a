/**
 * One word for one thing, in code, SQL, pages, errors and help. Each word here once stood for
 * several things, or left a reader to guess who does what; beside it is what to write.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../../dev/stack/ports.ts';

/** A word, alone or as part of a name: what to write. */
const INSTEAD = new Map(
  Object.entries({
    told: 'returned, reported, answered',
    asked: 'requested, required',
    given: 'the name of the input',
    begun: 'started',
    nobody: 'no operator, no worker: say who',
    recipient: 'payee',
    recipients: 'payees',
    beneficiary: 'payee',
    beneficiaries: 'payees',
    retrial: 'retry',
    resumption: 'resume',
  }),
);

const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/no way (?:can|leads)/i, 'unreachable'],
  [/\bany more\b/i, 'say until when, or leave it out'],
  [/knows what\b/i, 'say what is unknown'],
];

/** Names that stay everywhere, and why. */
const KEPT: Readonly<Record<string, string>> = {
  cancel_asked: 'column of movements',
  attention_told: 'column of movements',
  asked_at: 'key of documents that SQL functions take',
  told_of: 'SQL function of released migrations',
  pays_nobody: 'parameter of a released SQL function',
  nodes_asked_first: 'field of the stored result of a restore',
  retries_asked_first: 'field of the stored result of a restore',
  mint_recipient: 'field of node configs, stored and on the wire',
  mintRecipient: 'argument of the token messenger',
  feeRecipient: 'function of the token messenger',
  other_recipient: 'a fault of the simulated attester',
  recipientAddress: 'a field that a config may name its payee by',
};

/** Words that stay in these files alone, and why. */
const KEPT_IN: readonly (readonly [files: RegExp, words: readonly string[], why: string])[] = [
  [
    /^(?:domain\/messages|activities\/(?:movement|phases\/team(?:-word)?)|workflows\/)/,
    ['asked', 'begun', 'given'],
    'arguments and results that cross Temporal',
  ],
  [/^domain\/plan\/(?:assurance|node-facts)\.ts$/, ['asked', 'nobody'], 'stored, or a detail'],
  [/^domain\/allowlist\/payees\.ts$/, ['recipient', 'beneficiary'], "fields of teams' configs"],
  [/^domain\/send\/planned-sends\.ts$/, ['recipient'], "a field of teams' configs"],
  [
    /^(?:store|api)\/.*(?:bridge-registry|signer-lifecycle|rotate)\.ts$/,
    ['asked', 'told'],
    'keys of a document that a SQL function takes',
  ],
  [
    /^prisma\/functions\//,
    ['asked', 'told', 'given', 'nobody', 'recipient', 'beneficiary'],
    'parameters of released functions, and stored values',
  ],
  [
    /^dev\/simulators\/(?:bridge|chain)\//,
    ['asked', 'given', 'recipient'],
    "words of others' contracts and APIs",
  ],
  [/^dev\/(?:README\.md|stack\/postgres-user\.ts)$/, ['nobody'], 'a user of the operating system'],
  [
    /^test\/(?:faults\/(?:local-activity-rerun|team-answers|silence)|slow\/stranger|store\/sends-at)/,
    ['given', 'begun'],
    'arguments and results that cross Temporal',
  ],
  [/^test\/rules\//, ['given', 'asked', 'nobody'], 'quotes of the product'],
  [
    /^test\/(?:domain\/plan\/assurance|http\/movement-create|slow\/own-executors)/,
    ['asked'],
    'a detail of an answer',
  ],
  [/^test\/store\/locks\.test\.ts$/, ['asked', 'told'], 'keys of documents for SQL'],
  [
    /^test\/(?:store\/(?:action-types|approval-guard)|sample-venue\/)/,
    ['nobody'],
    'a stored value',
  ],
  [
    /^test\/(?:domain\/allowlist\/|store\/(?:said-twice|clauses))/,
    ['recipient', 'recipients', 'beneficiary'],
    'fields that a config may name its payee by',
  ],
  [
    /^docs\/(?:perps-venue-facts|decisions\/00(?:69|97)-.*)\.md$/,
    ['recipient', 'begun', 'nobody'],
    'names of stored or foreign fields',
  ],
];

/** What is not ours to change: released, recorded, generated. */
const LEFT =
  /^(?:prisma\/migrations\/|test\/replay\/histories\/|test\/upgrade\/states\/|CHANGELOG\.md$)|(?:^|\/)generated\/|^test\/architecture\/words\.test\.ts$/;

const NAME = /[A-Za-z_$][\w$]*/g;
const PART = /_|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;

const isKeptIn = (file: string, word: string): boolean =>
  KEPT_IN.some(([files, words]) => files.test(file) && words.includes(word.toLowerCase()));

/** What a line of the file should say instead. */
function findings(file: string, line: string): string[] {
  const words = (line.match(NAME) ?? [])
    .filter((name) => !(name in KEPT))
    .flatMap((name) => name.split(PART))
    .filter((word) => INSTEAD.has(word.toLowerCase()) && !isKeptIn(file, word))
    .map((word) => `${word}: ${INSTEAD.get(word.toLowerCase())}`);
  const phrases = PHRASES.flatMap(([phrase, instead]) =>
    phrase.test(line) ? [`${phrase.source}: ${instead}`] : [],
  );
  return [...words, ...phrases];
}

const texts = new Map(
  execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' })
    .trim()
    .split('\n')
    .filter((file) => /\.(?:tsx?|mjs|cjs|sql|prisma|md|sh|ya?ml|html|css)$/.test(file))
    .filter((file) => !LEFT.test(file))
    .map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]),
);

test('no text uses a word that another one stands for', () => {
  const found = [...texts].flatMap(([file, text]) =>
    text
      .split('\n')
      .flatMap((line, index) => findings(file, line).map((each) => `${file}:${index + 1} ${each}`)),
  );
  expect(found).toEqual([]);
});

test('what is kept is still there', () => {
  const used = new Set([...texts.values()].join('\n').match(NAME));
  expect(Object.keys(KEPT).filter((name) => !used.has(name))).toEqual([]);
  const unused = KEPT_IN.flatMap(([files, words]) =>
    words.filter(
      (word) =>
        ![...texts].some(([file, text]) => files.test(file) && text.toLowerCase().includes(word)),
    ),
  );
  expect(unused).toEqual([]);
});

test.each([
  ['const toldBy = 1;', ['told: returned, reported, answered']],
  ['-- ASKED of a venue', ['ASKED: requested, required']],
  ['the number of untold bundles', []],
  ['nothing can be signed any more', ['\\bany more\\b: say until when, or leave it out']],
])('finds in %j what it should', (line, expected) => {
  expect(findings('a.ts', line)).toEqual(expected);
});
