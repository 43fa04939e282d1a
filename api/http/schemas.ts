/** The pieces that every wire schema is made of. */
import { z } from 'zod';
import { isObject, type JsonObject } from '../../domain/json.ts';
import { DECIMAL_PATTERN, isDecimal, isPositive } from '../../domain/money.ts';
import { decimalText } from '../../platform/amount.ts';

/** The largest integer of the contract. */
export const MAX_INT = 2_147_483_647;

const decimal = decimalText(
  'must be a decimal string in plain notation, at most 20 integer and 18 fractional digits',
);

/**
 * An amount as it is sent: plain notation, up to 20 integer and 18 fractional digits; comes out
 * without trailing zeros.
 */
export const decimalString = decimal.meta({
  id: 'Decimal',
  description: 'A decimal in plain notation, carried as a string.',
  example: '1250.5',
});

/** As exact differences are, an amount here may be negative. */
export const signedDecimal = z
  .string()
  .meta({ pattern: '^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$', example: '999749.5' });

/** A {@link decimalString} greater than zero. */
export const positiveDecimal = decimal
  .refine((amount) => !isDecimal(amount) || isPositive(amount), 'must be greater than zero')
  .meta({
    id: 'PositiveDecimal',
    description: 'A decimal greater than zero, in plain notation, carried as a string.',
    // The refinement in JSON Schema's words.
    pattern: DECIMAL_PATTERN.source.replace('^', '^(?=.*[1-9])'),
    example: '1250.5',
  });

/** An id; comes out in lower case. */
export const uuid = z
  .uuid('must be a UUID')
  .overwrite((id) => id.toLowerCase())
  .meta({
    id: 'Id',
    description: 'A UUID; ids that the service gives are UUIDv7.',
    example: '01938a5e-7c00-7b3a-9d2f-5b1c7e8a4f10',
  });

/** A point in time as responses write it. */
export const timestamp = z.string().meta({
  id: 'Timestamp',
  format: 'date-time',
  description: 'ISO 8601 UTC with milliseconds.',
  example: '2026-11-21T03:35:00.000Z',
});

/** Any JSON object; strictness does not reach into it. */
export const jsonObject = z.custom<JsonObject>(isObject, 'must be a JSON object').meta({
  id: 'JsonObject',
  type: 'object',
  additionalProperties: true,
  description: 'Any JSON object.',
});

/** A string of so many characters without NUL. */
export function text(min: number, max: number): z.ZodString {
  return z
    .string()
    .min(min)
    .max(max)
    .refine((value) => !value.includes('\0'), 'must not hold NUL');
}

/**
 * A name that fills one segment of a path, as it is: without what `parseTarget` refuses there or a
 * path cannot express.
 */
export function segment(max: number): z.ZodString {
  return text(1, max).regex(
    /^(?!\.{1,2}$)[^\u0000-\u001f\u007f-\u009f%/\\#?]*$/,
    'must not be `.` or `..`, nor hold /, %, \\, #, ? or control characters',
  );
}

const PRINTED = 'must be printable ASCII without spaces';

/**
 * The code of an asset; comes out in upper case. Amounts are added up by it, so two codes that look
 * alike must not be two assets: no blanks, invisible characters or full-width forms.
 */
export const assetCode = z
  .string()
  .min(1)
  .toUpperCase()
  .max(32)
  .regex(/^[!-~]*$/, PRINTED);

/** An account type to look for, as {@link assetCode}, and without the spaces around it. */
export const accountTypeFilter = text(1, 32)
  .regex(/^( *[!-~]+ *)?$/, PRINTED)
  .trim()
  .toUpperCase();

/** An integer of the contract: 0 or `min` up to 2^31-1. */
export function int32(min = 0): z.ZodNumber {
  return z.number().int().min(min).max(MAX_INT);
}

/** An integer in a query string, with its bounds; OpenAPI shows it as an integer. */
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

/** A response's list: the array is not the handler's to change. */
export function listOf<T extends z.ZodType>(item: T): z.ZodReadonly<z.ZodArray<T>> {
  return z.array(item).readonly();
}

/** A response string of known values, where the store gives a plain string. */
export function oneOf(values: readonly string[]): z.ZodString {
  return z.string().meta({ enum: [...values] });
}

/** Who did something, as timelines show it. */
export const actorView = z.object({
  type: z.enum(['key', 'system', 'executor', 'operator']),
  client_id: z.string().nullable().optional(),
  key_id: z.string().nullable().optional(),
  label: z.string().optional(),
});

/** For actions without a body: none or `{}`. */
export const noBody = z.strictObject({}).optional();

/** For routes without query parameters: every one is refused by name. */
export const noQuery = z.strictObject({});

/** For routes without path parameters. */
export const noParams = z.strictObject({});

/** Where and how a request does not fit its schema. */
export const issue = z
  .object({
    path: z.string().meta({ example: 'nodes[2].node_key' }),
    code: z.string().meta({ example: 'too_small' }),
    message: z.string(),
  })
  .meta({ id: 'Issue' });

/** What every refusal and fault looks like. */
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
