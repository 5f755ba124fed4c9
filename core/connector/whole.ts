import { z } from 'zod';
import { mismatchesOf } from '../mismatches.ts';

/* What a connector gives, looked at while closeloop runs: a connector in JavaScript has seen no compiler. */

const Func = z.custom((value) => typeof value === 'function');
const Whole = z.object({
  ...{ verify: Func, events: Func, read: Func, writeBack: Func },
  batchSize: z.int().positive(),
  taken: z.object({ status: z.int() }),
});

/** @throws what the source lacks, for the author of the connector */
export function wholeSource<Source extends { act?: unknown; acts?: readonly string[] }>(
  source: Source,
  actions: object,
): Source {
  if (source instanceof Promise) throw new Error('it returns a promise: take its `async` away');
  const { error } = Whole.safeParse(source);
  if (error) throw new Error(`it returns no source, at ${mismatchesOf(error).join(', ')}: return what desk() gives`);
  const declared = Object.keys(actions);
  const done = source.act === undefined ? [] : (source.acts ?? declared);
  const missing = declared.filter((name) => !done.includes(name));
  if (missing.length === 0) return source;
  const others = done.length === 0 ? '' : ` (it does ${done.join(', ')})`;
  throw new Error(`its source does not do the action ${missing.join(', ')} that defineConnector names${others}`);
}

/** The part of a record that closeloop itself works with. Rules read `shape`, whatever it holds. */
const Read = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    record: z.object({
      ...{
        id: z.string(),
        currentId: z.string(),
        shape: z.custom((value) => typeof value === 'object' && value !== null),
      },
      state: z.discriminatedUnion('is', [
        z.object({ is: z.literal('closed'), closing: z.string(), closedAt: z.date() }),
        z.object({ is: z.literal('open'), readAgainAt: z.date().optional() }),
        z.object({ is: z.literal('out'), why: z.string() }),
      ]),
      // JavaScript writes null for what is not there.
      personId: z.string().nullish(),
      timeZone: z.string().nullish(),
      locale: z.string().nullish(),
      country: z.string().nullish(),
      region: z.string().nullish(),
    }),
  }),
  z.object({ ok: z.literal(false) }),
]);

/** Why a result of `read` is none; undefined: it is one. */
export function recordFlaw(result: unknown): string | undefined {
  const { error } = Read.safeParse(result);
  return error && `it gives a record that is none, at ${mismatchesOf(error).join(', ')}`;
}
