/** What is wrong with a request, with the path of each fault, in this service's own wording. */
import type { z } from 'zod';
import { ServiceError } from '../../domain/errors.ts';
import { placeOf } from '../../domain/json.ts';

export interface Issue {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

const MOST_ISSUES = 100;
const LONGEST_PATH = 256;

/** Returns a path as text, such as `nodes[2].node_key`. */
export function pathText(path: readonly PropertyKey[]): string {
  const text = placeOf(path);
  return text.length > LONGEST_PATH ? `${text.slice(0, LONGEST_PATH)}…` : text;
}

/**
 * Returns the issues of a failed parse, one for each unknown field. `known`: the top-level names,
 * if they are few enough to list.
 */
export function toIssues(error: z.ZodError, known?: readonly string[]): readonly Issue[] {
  return error.issues.flatMap((issue): Issue[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        path: pathText([...issue.path, key]),
        code: 'unknown_field',
        message:
          known === undefined || issue.path.length > 0
            ? 'is not a known field'
            : `is not a known parameter; ${known.length === 0 ? 'this request takes none' : `there are ${known.join(', ')}`}`,
      }));
    }
    const path = pathText(issue.path);
    if (issue.code === 'invalid_type' && issue.message.endsWith('received undefined')) {
      return [
        {
          path,
          code: 'required',
          message: path === '' ? 'a JSON body is required' : 'is required',
        },
      ];
    }
    return [
      {
        path,
        code: issue.code === 'custom' ? customCode(issue) : issue.code,
        // The key's own schema says what is wrong with the key.
        message:
          issue.code === 'invalid_key'
            ? issue.issues.map(({ message }) => message).join('; ')
            : issue.message,
      },
    ];
  });
}

function customCode({ params }: z.core.$ZodIssueCustom): string {
  const code: unknown = params?.['code'];
  return typeof code === 'string' ? code : 'invalid_value';
}

/** Returns the refusal that carries the issues. */
export function invalidRequest(issues: readonly Issue[]): ServiceError {
  return new ServiceError('invalid_request', { context: { issues: issues.slice(0, MOST_ISSUES) } });
}
