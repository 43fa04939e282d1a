/** Breaks that change nothing that anyone could see, each with the reason. */
export const EQUIVALENT: readonly { readonly id: string; readonly why: string }[] = [];
