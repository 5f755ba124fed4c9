import { z } from 'zod';

/*
 * Shapes of what others send. It may be long and wrong all over, and zod reports each wrong entry: 300,000 of them would stop
 * every other work of the process for seconds. These read entry by entry and report the first wrong one, with all that is wrong
 * with it.
 */

/** Every entry in the shape of `item`. @param most of a list whose entries are judged one by one later */
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

/** An object under whatever keys, with every value in the shape of `value`. */
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

/** `fallback` for what is absent or has another shape: zod's own `catch` writes a report that nobody reads. */
export function orElse<Schema extends z.ZodType, Fallback>(schema: Schema, fallback: Fallback) {
  return z
    .unknown()
    .optional()
    .transform((value): z.output<Schema> | Fallback => {
      const parsed = schema.safeParse(value);
      return parsed.success ? parsed.data : fallback;
    });
}

function refuse(context: z.core.$RefinementCtx, key: PropertyKey, { issues }: z.ZodError): never {
  for (const issue of issues) context.issues.push({ ...issue, path: [key, ...issue.path], input: undefined });
  return z.NEVER;
}
