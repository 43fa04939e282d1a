/** A lifecycle as data: every state and, for each, the states it may move to. */
export interface TransitionTable<S extends string> {
  readonly entity: string;
  readonly moves: { readonly [From in S]: readonly S[] };
}

/** Returns whether the table allows a move; staying in the same state is not a move. */
export function allows<S extends string>(table: TransitionTable<S>, from: S, to: S): boolean {
  return table.moves[from].includes(to);
}

/** Returns all states of a lifecycle, in the order of the table. */
export function statesOf<S extends string>(table: TransitionTable<S>): readonly S[] {
  return Object.keys(table.moves).filter((key): key is S => key in table.moves);
}

/** Returns whether no move leaves this state. */
export function isFinal<S extends string>(table: TransitionTable<S>, state: S): boolean {
  return table.moves[state].length === 0;
}

/** A move that is not in the table: a defect of the calling code, never a user's error. */
export class IllegalMove extends Error {
  override readonly name = 'IllegalMove';
  constructor(entity: string, from: string, to: string) {
    super(`${entity}: no move from ${from} to ${to}`);
  }
}

/** Throws {@link IllegalMove} unless the table allows the move. */
export function assertMove<S extends string>(table: TransitionTable<S>, from: S, to: S): void {
  if (!allows(table, from, to)) throw new IllegalMove(table.entity, from, to);
}
