/** URLs of our own services, as settings files name them. */
import { z } from 'zod';
import { isLoopbackAddress } from './public-address.ts';

/** An http or https URL without secrets in it, to which paths can be added. */
export const serviceUrl = z.string().superRefine((value, context) => {
  const parsed = URL.canParse(value) ? new URL(value) : null;
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol)) {
    context.addIssue({ code: 'custom', message: 'must be an http or https URL' });
  } else if (parsed.username !== '' || parsed.password !== '') {
    context.addIssue({ code: 'custom', message: 'must not hold credentials; use auth_token_file' });
  } else if (parsed.search !== '' || parsed.hash !== '') {
    context.addIssue({ code: 'custom', message: 'must not have a query or a fragment' });
  }
});

/** Returns whether the URL names this machine itself, by name or address. */
export function isLoopbackUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const host = new URL(url).hostname.replace(/^\[(.*)]$/, '$1');
  return host === 'localhost' || isLoopbackAddress(host);
}
