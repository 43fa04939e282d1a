/** The error with which a check says that an executor is not safe. */

/** Thrown when a guarantee does not hold; says why, and what the executor's team can do. */
export class Broken extends Error {
  override readonly name = 'Broken';
  readonly advice: string;
  constructor(reason: string, advice: string) {
    super(reason);
    this.advice = advice;
  }
}
