/** A lifecycle as data: every state and, for each, the states it may move to. */
export interface TransitionTable<S extends string> {
  readonly entity: string;
  readonly moves: { readonly [From in S]: readonly S[] };
}

/** Whether the table allows a move; staying in the same state is not a move. */
export function allows<S extends string>(table: TransitionTable<S>, from: S, to: S): boolean {
  return table.moves[from].includes(to);
}

/** All states of a lifecycle, in the order they are written in. */
export function statesOf<S extends string>(table: TransitionTable<S>): readonly S[] {
  return Object.keys(table.moves).filter((key): key is S => key in table.moves);
}

/** States that nothing leaves. */
export function isFinal<S extends string>(table: TransitionTable<S>, state: S): boolean {
  return table.moves[state].length === 0;
}

/** A move that the table does not have: a defect of the caller, never a user's fault. */
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
