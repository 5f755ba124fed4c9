import { domainToASCII } from 'node:url';
import { z } from 'zod';
import { type RecordPart, type RecordParts, recordParts } from '../../core/connector/record-parts.ts';
import { ExpressionSource } from '../../core/mapping/expression-compile.ts';
import { Duration } from '../../core/schedule/duration-setting.ts';
import type { FoundProblem, Path } from './problem.ts';

/* The settings of `never`, which say whom no rule asks: for one source, and in the policy for all sources. */

const Expression = ExpressionSource.meta({ description: 'JSONata over the record as the connector presents it' });

/** Ids may be written as numbers. */
const Names = z
  .array(z.union([z.string().trim().min(1), z.int().transform(String)]))
  .min(1)
  .describe('Names or ids, without regard to case');

const Domain = z
  .string()
  .trim()
  .transform((text) => domainToASCII(text.toLowerCase()))
  .refine((domain) => /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain), 'must be a domain like acme.com');

const HandledIn = z
  .strictObject({
    under: Duration.optional().describe('In less than this'),
    over: Duration.optional().describe('In more than this'),
  })
  .refine(({ under, over }) => under !== undefined || over !== undefined, 'must say under or over')
  .describe('From opening to closing');

const conditions = {
  when: Expression.optional(),
  ownDomains: z.array(Domain).min(1).optional().describe('Customers with an address there, or below it'),
  tags: Names.optional(),
  brands: Names.optional(),
  groups: Names.optional(),
  pipelines: Names.optional(),
  channels: Names.optional(),
  agents: Names.optional().describe('Who handled it: names, addresses or ids'),
  handledIn: HandledIn.optional(),
  noReply: z.literal(true).optional().describe('No agent has replied'),
  contactsIn: z
    .string()
    .min(1)
    .optional()
    .describe('A file beside the configuration: an e-mail address, phone number or identifier a line, # for comments'),
};

const Condition = z
  .strictObject({
    ...conditions,
    reason: z.string().trim().min(1).max(200).optional().describe('What the trace says in place of the usual words'),
  })
  .refine(
    ({ reason: _, ...rest }) => Object.keys(rest).length === 1,
    `must be one condition: ${Object.keys(conditions).join(', ')}. Several are several entries of the list`,
  );
export type NeverCondition = z.output<typeof Condition>;

/** Closings about which nobody is asked, whatever the rules say. */
export const Never = z
  .array(z.union([Expression.transform((when): NeverCondition => ({ when })), Condition]))
  .describe('No rule asks about a closing for which one of these is true');

/** The part of the record that each ready-made condition asks about. */
const partOf: Readonly<Partial<Record<keyof typeof conditions, RecordPart>>> = {
  ...Object.fromEntries(recordParts.flatMap((part) => (part in conditions ? [[part, part]] : []))),
  handledIn: 'openedAt',
  noReply: 'replies',
};

/** Finds conditions about parts that this connector's records don't have: such a condition would silently be false for ever. */
export function unanswerable(
  never: readonly NeverCondition[],
  connector: { name: string; parts: RecordParts },
  at: Path,
): FoundProblem[] {
  const entries = Object.entries(partOf);
  return never.flatMap((condition, i) =>
    entries.flatMap(([key, part]): FoundProblem[] => {
      if (!(key in condition) || connector.parts[part] !== undefined) return [];
      const known = entries.flatMap(([name, of]) => (connector.parts[of] === undefined ? [] : [name]));
      const others = known.length === 0 ? 'none of these conditions' : known.join(', ');
      const message = `records of ${connector.name} don't tell it: they answer ${others}; for anything else write an expression (when)`;
      return [{ path: [...at, i, key], message }];
    }),
  );
}
