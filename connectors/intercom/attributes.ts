import { z } from 'zod';
import { placesOf } from '../../core/connector/answer.ts';
import { cached } from '../../core/connector/cached.ts';
import { type Comparison, combined, type SetupItem } from '../../core/connector/check.ts';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { comparedFields, type DeskFields } from '../../core/connector/desk/preflight.ts';
import { fractionsIn, gradeTypes } from '../../core/connector/fields.ts';
import { listOf } from '../../core/entries.ts';
import type { Workspace } from './api.ts';
import type { IntercomSettings } from './settings.ts';

export type Value = string | number;

/** The types that an attribute needs for a part of an answer with these grades. */
const types: DeskFields['types'] = (part, grades) => {
  if (part === 'answeredAt') return { types: ['datetime'] };
  if (part !== 'grade') return { types: ['string'] };
  return { types: gradeTypes(grades, { whole: 'integer', fraction: 'decimal' }), neededBy: fractionsIn(grades) };
};

const Attribute = z.object({
  name: z.string(),
  data_type: z.string(),
  archived: z.boolean().catch(false),
  required: z.boolean().catch(false),
});
/** The attributes in use. */
const Attributes = z
  .object({ data: listOf(Attribute) })
  .transform(({ data }) =>
    data.flatMap(({ archived, data_type: type, ...one }) => (archived ? [] : [{ ...one, type }])),
  );
const TicketType = z.object({
  id: z.string(),
  name: z.string(),
  category: z.string(),
  archived: z.boolean().catch(false),
  ticket_type_attributes: Attributes,
});
const TicketTypes = z.object({ data: listOf(TicketType) });

const path = '/conversations/attributes';

const ofConversations = (workspace: Workspace) => workspace.call({ method: 'GET', path }, Attributes);
const ticketTypes = async (workspace: Workspace) =>
  (await workspace.call({ method: 'GET', path: '/ticket_types' }, TicketTypes)).data.filter(
    ({ archived }) => !archived,
  );

/** Compares the attributes that `writeBack` names with the attributes of conversations, and of each ticket type in the source. */
export async function attributesCompared(
  { writeBack, ticketCategories }: IntercomSettings,
  workspace: Workspace,
  grades: readonly number[],
): Promise<Comparison<SetupItem>> {
  const compared = (of: string, path: string, list: DeskFields['list'], extra: object = {}) => {
    async function make({ name, types: [type] }: { name: string; types: readonly [string, ...string[]] }) {
      const body = { name, description: 'Of the customer feedback', data_type: type, ...extra };
      await workspace.call({ method: 'POST', path, body }, z.unknown());
      return {};
    }
    const fields = { of, field: 'attribute', place: 'Settings > Data', list, types, make };
    return comparedFields(fields, writeBack, grades);
  };
  const all = [await compared('conversations', path, () => ofConversations(workspace))];
  const hasTickets = writeBack.tickets === 'ticket' && ticketCategories.length > 0 && placesOf(writeBack).size > 0;
  for (const { id, name, category, ticket_type_attributes: list } of hasTickets ? await ticketTypes(workspace) : []) {
    if (!ticketCategories.some((one) => one === category)) continue;
    const hidden = { visible_on_create: false, visible_to_contacts: false };
    const ofType = `tickets of type "${name}"`;
    all.push(await compared(ofType, `/ticket_types/${id}/attributes`, async () => list, hidden));
  }
  return combined(all);
}

/** The reasons why Intercom refuses values. */
interface Unfit {
  /** The names of attributes that are missing, or can't take this record's values. */
  unfit: readonly string[];
  /** The reasons in words. */
  findings: readonly string[];
  /** Conversations lack an attribute, or have two attributes with its name: closeloop can't write the answer of any conversation. */
  isOfAll: boolean;
}

/** Finds out why values are refused: an attribute is missing, or has another type than its value. */
export function unfitReader(
  { writeBack }: IntercomSettings,
  workspace: Workspace,
  { now }: Pick<ConnectorPorts, 'now'>,
): (ticketType: string | undefined, values: ReadonlyMap<string, Value | null>) => Promise<Unfit> {
  // The attributes are cached only for a minute, as a person may correct them at any time.
  const conversations = cached(() => ofConversations(workspace), aMinuteMs, now);
  const typesNow = cached(() => ticketTypes(workspace), aMinuteMs, now);

  return async (ticketType, values) => {
    const ofType = async () => (await typesNow()).find(({ name }) => name === ticketType)?.ticket_type_attributes ?? [];
    const attributes = ticketType === undefined ? await conversations() : await ofType();
    const of = ticketType === undefined ? 'conversations' : `tickets of the type "${ticketType}"`;
    const lacking: string[] = [];
    const misfits: [name: string, finding: string][] = [];
    for (const [name, value] of values) {
      const [attribute, ...others] = attributes.filter((one) => one.name === name);
      if (attribute === undefined || others.length > 0) lacking.push(name);
      else if (!takes(attribute.type, value)) {
        const what = name === writeBack.grade ? `the grade ${value}` : 'what is written there';
        const problem = `is of type ${attribute.type}, which does not take ${what}`;
        misfits.push([name, `the attribute "${name}" of ${of} ${problem}: name another attribute`]);
      }
    }
    const named = lacking.map((name) => `"${name}"`).join(', ');
    const lack = `${of} lack the attribute ${named}, or have two of its name: writeBack names what each type has to have`;
    return {
      unfit: [...lacking, ...misfits.map(([name]) => name)],
      findings: [...(lacking.length > 0 ? [lack] : []), ...misfits.map(([, finding]) => finding)],
      isOfAll: ticketType === undefined && lacking.length > 0,
    };
  };
}

const aMinuteMs = 60_000;

function takes(type: string, value: Value | null): boolean {
  if (value === null) return true;
  if (type === 'integer' || type === 'datetime') return Number.isInteger(value);
  return type === 'decimal' ? typeof value === 'number' : type === 'string' && typeof value === 'string';
}
