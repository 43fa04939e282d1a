/** Certificates of an authority of a test's own, made by openssl. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Authority {
  /** Its certificate. */
  readonly file: string;
  /** Makes a certificate for names (`DNS:localhost`), or for a client where none is named. */
  issue(name: string, names?: string): { readonly cert: string; readonly key: string };
}

const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** An authority whose files lie in `folder`. */
export function certificateAuthority(folder: string, name: string): Authority {
  const at = (file: string): string => join(folder, file);
  const [file, caKey] = [at(`${name}.crt`), at(`${name}.key`)];
  openssl(
    'req',
    '-x509',
    ...NEW_KEY,
    '-keyout',
    caKey,
    '-out',
    file,
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
  );
  return {
    file,
    issue: (subject, names) => {
      const [cert, key, request, extensions] = ['crt', 'key', 'csr', 'ext'].map((end) =>
        at(`${name}-${subject}.${end}`),
      ) as [string, string, string, string];
      openssl(
        'req',
        '-new',
        ...NEW_KEY,
        '-keyout',
        key,
        '-out',
        request,
        '-subj',
        `/CN=${subject}`,
      );
      writeFileSync(extensions, names === undefined ? '' : `subjectAltName=${names}\n`);
      openssl(
        'x509',
        '-req',
        '-in',
        request,
        '-CA',
        file,
        '-CAkey',
        caKey,
        '-CAcreateserial',
        '-out',
        cert,
        '-days',
        '2',
        '-extfile',
        extensions,
      );
      return { cert, key };
    },
  };
}
