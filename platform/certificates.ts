/** When certificates in PEM expire. */
import { X509Certificate } from 'node:crypto';

const MS_PER_DAY = 86_400_000;

/** Returns all certificates of the text, in their order. */
export function certificatesIn(pem: Buffer): readonly X509Certificate[] {
  const blocks = pem
    .toString('latin1')
    .match(/-----BEGIN CERTIFICATE-----[^-]+-----END [^-]+-----/g);
  return (blocks ?? []).map((block) => new X509Certificate(block));
}

/**
 * Returns the latest expiry: as long as one of several CAs is valid, the server's certificate can
 * be verified.
 */
export function endOf(certificates: readonly X509Certificate[]): Date {
  return new Date(Math.max(...certificates.map(({ validTo }) => Date.parse(validTo))));
}

/** Returns whole days until the first of these times; null without any. */
export function daysUntilFirst(ends: readonly Date[]): number | null {
  const times = ends.map((end) => end.getTime());
  return times.length === 0 ? null : Math.floor((Math.min(...times) - Date.now()) / MS_PER_DAY);
}
