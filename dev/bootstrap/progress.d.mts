/** A slow step whose progress is shown until it ends. */
export interface Step {
  detail(text: string): void;
  done(note?: string): void;
  fail(note?: string): void;
  cancel(): void;
}
export function report(line: string): void;
export function startStep(label: string, write?: (line: string) => void): Step;
