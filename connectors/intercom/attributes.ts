import { z } from 'zod';
import { placesOf } from '../../core/connector/answer.ts';
import { cached } from '../../core/connector/cached.ts';
import { type Comparison, combined } from '../../core/connector/check.ts';
import type { ConnectorPorts } from '../../core/connector/contract.ts';
import { comparedFields, type DeskFields } from '../../core/connector/desk/preflight.ts';
import { Refusal } from '../../core/connector/desk/writing.ts';
import { typesByPart } from '../../core/connector/fields.ts';
import { listOf } from '../../core/entries.ts';
import type { Workspace } from './api.ts';
import type { IntercomSettings } from './settings.ts';

export type Value = string | number;

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

const path = '/conversations/attributes';
const ofConversations = (workspace: Workspace) => workspace.get(path, Attributes);
const ticketTypes = async (workspace: Workspace) =>
  (await workspace.get('/ticket_types', z.object({ data: listOf(TicketType) }))).data.filter((one) => !one.archived);

const attributes: Omit<DeskFields, 'of' | 'list'> = {
  ...{ field: 'attribute', place: 'Settings > Data' },
  types: typesByPart({
    grade: { whole: 'integer', fraction: 'decimal' },
    answeredAt: ['datetime'],
    comment: ['string'],
    others: ['string'],
  }),
};
const inWords = (ticketType: string | undefined) =>
  ticketType === undefined ? 'conversations' : `tickets of type "${ticketType}"`;

/** Compares the attributes that `writeBack` names with the attributes of conversations, and of each ticket type in the source. */
export async function attributesCompared(
  { writeBack, ticketCategories }: IntercomSettings,
  workspace: Workspace,
  grades: readonly number[],
): Promise<Comparison> {
  const compared = (of: string, path: string, list: DeskFields['list'], extra: object = {}) => {
    const make: DeskFields['make'] = async ({ name, types: [data_type] }) => {
      const body = { name, description: 'Of the customer feedback', data_type, ...extra };
      await workspace.send('POST', path, body, z.unknown());
      return {};
    };
    return comparedFields({ ...attributes, of, list, make }, writeBack, grades);
  };
  const all = [await compared(inWords(undefined), path, () => ofConversations(workspace))];
  const hasTickets = writeBack.tickets === 'ticket' && ticketCategories.length > 0 && placesOf(writeBack).size > 0;
  for (const { id, name, category, ticket_type_attributes: list } of hasTickets ? await ticketTypes(workspace) : []) {
    if (!ticketCategories.some((one) => one === category)) continue;
    const hidden = { visible_on_create: false, visible_to_contacts: false };
    all.push(await compared(inWords(name), `/ticket_types/${id}/attributes`, async () => list, hidden));
  }
  return combined(all);
}

/**
 * Finds out why Intercom refuses values, which its response does not say: an attribute is missing, or has another type. Undefined if
 * conversations lack an attribute, or have two of its name: then closeloop can't write the answer of any conversation.
 */
export function refusalReader(
  { writeBack }: IntercomSettings,
  workspace: Workspace,
  { now }: Pick<ConnectorPorts, 'now'>,
): (ticketType: string | undefined, values: ReadonlyMap<string, Value | null>) => Promise<Refusal | undefined> {
  // The attributes are cached only for a minute, as a person may correct them at any time.
  const conversations = cached(() => ofConversations(workspace), 60_000, now);
  const typesNow = cached(() => ticketTypes(workspace), 60_000, now);
  const places = new Map([...placesOf(writeBack)].map(([part, name]) => [`writeBack.${part}`, name]));

  return async (ticketType, values) => {
    const ofType = async () => (await typesNow()).find(({ name }) => name === ticketType)?.ticket_type_attributes ?? [];
    const there = ticketType === undefined ? await conversations() : await ofType();
    const isOne = (name: string) => there.filter((one) => one.name === name).length === 1;
    if (ticketType === undefined && ![...values.keys()].every(isOne)) return undefined;
    const grades = [...values.values()].filter((value) => typeof value === 'number');
    const fields = { ...attributes, of: inWords(ticketType), list: async () => there };
    const { findings } = await comparedFields(fields, writeBack, grades);
    const unfit = findings.flatMap(({ level, at, problem, remedy }) => {
      const name = places.get(at) ?? '';
      const isSent = values.has(name) && (values.get(name) !== null || !isOne(name));
      return level === 'error' && isSent ? [{ name, said: `${problem}. ${remedy}.` }] : [];
    });
    const said = unfit.map((one) => one.said).join(' ');
    return new Refusal(
      unfit.map(({ name }) => name),
      [said],
    );
  };
}
