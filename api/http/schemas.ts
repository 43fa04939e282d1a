/** Shared parts of all wire schemas. */
import { z } from 'zod';
import { isObject, type JsonObject } from '../../domain/json.ts';
import { DECIMAL_PATTERN, isDecimal, isPositive } from '../../domain/money.ts';
import { decimalText } from '../../platform/amount.ts';

/** The largest integer in the API. */
export const MAX_INT = 2_147_483_647;

const decimal = decimalText(
  'must be a decimal string in plain notation, at most 20 integer and 18 fractional digits',
);

/**
 * An amount in a request: plain notation, up to 20 integer and 18 fractional digits; parsed without
 * trailing zeros.
 */
export const decimalString = decimal.meta({
  id: 'Decimal',
  description: 'A decimal in plain notation, carried as a string.',
  example: '1250.5',
});

/** An amount that may be negative, such as an exact difference. */
export const signedDecimal = z
  .string()
  .meta({ pattern: '^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$', example: '999749.5' });

/** A {@link decimalString} greater than zero. */
export const positiveDecimal = decimal
  .refine((amount) => !isDecimal(amount) || isPositive(amount), 'must be greater than zero')
  .meta({
    id: 'PositiveDecimal',
    description: 'A decimal greater than zero, in plain notation, carried as a string.',
    // The same condition as the refinement, for JSON Schema.
    pattern: DECIMAL_PATTERN.source.replace('^', '^(?=.*[1-9])'),
    example: '1250.5',
  });

/** An id; parsed to lower case. */
export const uuid = z
  .uuid('must be a UUID')
  .overwrite((id) => id.toLowerCase())
  .meta({
    id: 'Id',
    description: 'A UUID; ids that the service gives are UUIDv7.',
    example: '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10',
  });

/** A point in time in responses. */
export const timestamp = z.string().meta({
  id: 'Timestamp',
  format: 'date-time',
  description: 'ISO 8601 UTC with milliseconds.',
  example: '2026-11-21T03:35:00.000Z',
});

/** Any JSON object; unknown fields in it are allowed. */
export const jsonObject = z.custom<JsonObject>(isObject, 'must be a JSON object').meta({
  id: 'JsonObject',
  type: 'object',
  additionalProperties: true,
  description: 'Any JSON object.',
});

/** Returns the schema of a text with `min` to `max` characters and without NUL. */
export function text(min: number, max: number): z.ZodString {
  return z
    .string()
    .min(min)
    .max(max)
    .refine((value) => !value.includes('\0'), 'must not hold NUL');
}

/**
 * Returns the schema of a name that is one path segment unchanged: without characters that
 * `parseTarget` refuses or that a path cannot hold.
 */
export function segment(max: number): z.ZodString {
  return text(1, max).regex(
    /^(?!\.{1,2}$)[^\u0000-\u001f\u007f-\u009f%/\\#?]*$/,
    'must not be `.` or `..`, nor hold /, %, \\, #, ? or control characters',
  );
}

const PRINTED = 'must be printable ASCII without spaces';

/**
 * An asset's code; parsed to upper case. Amounts are summed by asset code, so two codes that look
 * alike must not be two assets: no blanks, invisible characters or full-width forms.
 */
export const assetCode = z
  .string()
  .min(1)
  .toUpperCase()
  .max(32)
  .regex(/^[!-~]*$/, PRINTED);

/** An account type to filter by, like {@link assetCode}, parsed without surrounding spaces. */
export const accountTypeFilter = text(1, 32)
  .regex(/^( *[!-~]+ *)?$/, PRINTED)
  .trim()
  .toUpperCase();

/** Returns the schema of an integer from `min` (default 0) to 2^31-1. */
export function int32(min = 0): z.ZodNumber {
  return z.number().int().min(min).max(MAX_INT);
}

/** Returns the schema of an integer in a query string; OpenAPI shows an integer. */
export function integerInQuery(min: number, max: number) {
  return z.preprocess(
    (value) =>
      typeof value === 'string' && /^(0|[1-9][0-9]{0,9})$/.test(value) ? Number(value) : value,
    z.number().int().min(min).max(max),
  );
}

/** `true` or `false` in a query string. */
export const booleanInQuery = z.preprocess(
  (value) => (value === 'true' ? true : value === 'false' ? false : value),
  z.boolean(),
);

/** Returns the schema of a list in a response; the handler cannot change the array. */
export function listOf<T extends z.ZodType>(item: T): z.ZodReadonly<z.ZodArray<T>> {
  return z.array(item).readonly();
}

/** Returns the schema of a response string with known values, for a plain string from the store. */
export function oneOf(values: readonly string[]): z.ZodString {
  return z.string().meta({ enum: [...values] });
}

/** The actor of an event, as timelines show it. */
export const actorView = z.object({
  type: z.enum(['key', 'system', 'executor', 'operator']),
  client_id: z.string().nullable().optional(),
  key_id: z.string().nullable().optional(),
  label: z.string().optional(),
});

/** For commands without a body: no body or `{}`. */
export const noBody = z.strictObject({}).optional();

/** For routes without query parameters: each parameter is refused by name. */
export const noQuery = z.strictObject({});

/** For routes of one movement. */
export const movementParams = z.strictObject({ movement_id: uuid });

/** For routes without path parameters. */
export const noParams = z.strictObject({});

/** The path at which a request does not fit its schema, and why. */
export const issue = z
  .object({
    path: z.string().meta({ example: 'nodes[2].node_key' }),
    code: z.string().meta({ example: 'too_small' }),
    message: z.string(),
  })
  .meta({ id: 'Issue' });

/** The body of every refusal and fault. */
export const errorBody = z
  .object({
    detail: z.looseObject({
      error: z.string().meta({ description: 'A stable code.', example: 'invalid_state' }),
      message: z.string().meta({ description: 'What is wrong and what to do.' }),
      issues: z.array(issue).optional(),
      request_id: z.string().optional(),
    }),
  })
  .meta({ id: 'Error' });
