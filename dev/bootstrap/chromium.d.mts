export function findChromium(env?: { readonly [name: string]: string | undefined }): string;
