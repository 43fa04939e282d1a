/** How a check says that an executor is not safe. */

/** A guarantee that does not hold: why, and what the executor's team can do. */
export class Broken extends Error {
  override readonly name = 'Broken';
  readonly advice: string;
  constructor(reason: string, advice: string) {
    super(reason);
    this.advice = advice;
  }
}
