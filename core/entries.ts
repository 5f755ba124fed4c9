import { z } from 'zod';

/*
 * Schemas for lists and objects that others send. zod reports every wrong entry, and a list of 300,000 wrong entries would block
 * the event loop for seconds. These schemas parse entry by entry and report only the first wrong entry.
 */

/** A list whose entries all match `item`. @param most the most entries, for a list whose entries are checked one by one later */
export function listOf<Item extends z.ZodType>(item: Item, most = Number.POSITIVE_INFINITY) {
  const entries = z.array(z.unknown()).max(most);
  return entries.transform((entries, context): z.output<Item>[] => {
    const read: z.output<Item>[] = [];
    for (const [index, entry] of entries.entries()) {
      const parsed = item.safeParse(entry);
      if (!parsed.success) return refuse(context, index, parsed.error);
      read.push(parsed.data);
    }
    return read;
  });
}

/** An object with any keys, whose values all match `value`. */
export function mapOf<Value extends z.ZodType>(value: Value) {
  return z.record(z.string(), z.unknown()).transform((entries, context): Record<string, z.output<Value>> => {
    const read: [key: string, value: z.output<Value>][] = [];
    for (const key of Object.keys(entries)) {
      const parsed = value.safeParse(entries[key]);
      if (!parsed.success) return refuse(context, key, parsed.error);
      read.push([key, parsed.data]);
    }
    return Object.fromEntries(read);
  });
}

/** `fallback` for a value that is absent or invalid, without the error report that zod's `catch` builds. */
export function orElse<Schema extends z.ZodType, Fallback>(schema: Schema, fallback: Fallback) {
  return z
    .unknown()
    .optional()
    .transform((value): z.output<Schema> | Fallback => {
      const parsed = schema.safeParse(value);
      return parsed.success ? parsed.data : fallback;
    });
}

/** A text; '' for anything else. */
export const text = orElse(z.string(), '');
/** True or false; false for anything else. */
export const flag = orElse(z.boolean(), false);

function refuse(context: z.core.$RefinementCtx, key: PropertyKey, { issues }: z.ZodError): never {
  for (const issue of issues) context.issues.push({ ...issue, path: [key, ...issue.path], input: undefined });
  return z.NEVER;
}
