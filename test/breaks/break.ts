/** One small break of a guarding file: a text at a place, and what stands there instead. */
export interface Break {
  readonly file: string;
  /** Where it begins in the file, in characters. */
  readonly at: number;
  readonly find: string;
  readonly replace: string;
  /** What kind of slip it is, for the list of survivors. */
  readonly kind: string;
}

/** Where guards stand; each file of them that holds code is drawn from. */
export const GUARDED = [
  'prisma/functions/',
  'domain/',
  'activities/',
  'venues/',
  'signers/',
  'api/agents/',
  'api/auth/',
  'clients/agent/',
  'clients/http/',
] as const;

/** Whether slips of this file are tried. */
export function isGuarded(file: string): boolean {
  return (
    GUARDED.some((folder) => file.startsWith(folder)) &&
    /\.(ts|sql)$/.test(file) &&
    !/(^|\/)generated\/|\.d\.ts$/.test(file)
  );
}

/** Where a break stands, as an editor finds it. */
export function placeOf({ file, at }: Break, text: string): string {
  const line = text.slice(0, at).split('\n').length;
  return `${file}:${String(line)}`;
}

/** A name that stays the same while the file does. */
export function idOf({ file, at, find, replace }: Break): string {
  return `${file}@${String(at)} ${JSON.stringify(find)} -> ${JSON.stringify(replace)}`;
}

/** The file with the break in it. */
export function broken({ at, find, replace }: Break, text: string): string {
  if (!text.startsWith(find, at)) throw new Error(`the file has changed: ${find} is not there`);
  return text.slice(0, at) + replace + text.slice(at + find.length);
}
