import { z } from 'zod';
import { placesOf } from '../../core/connector/answer.ts';
import type { Comparison, SetupItem } from '../../core/connector/check.ts';
import { compareFields, type NeededField } from '../../core/connector/fields.ts';
import { listOf } from '../../core/entries.ts';
import type { Workspace } from './api.ts';
import type { IntercomSettings } from './settings.ts';

const types: Readonly<Record<string, NeededField['types']>> = {
  grade: ['integer', 'decimal'],
  answeredAt: ['datetime'],
};

const Attribute = z.object({
  name: z.string(),
  data_type: z.string(),
  archived: z.boolean().catch(false),
  required: z.boolean().catch(false),
});
const List = z.object({ data: listOf(Attribute) });
const TicketType = z.object({
  id: z.string(),
  name: z.string(),
  category: z.string(),
  archived: z.boolean().catch(false),
  ticket_type_attributes: List,
});
const TicketTypes = z.object({ data: listOf(TicketType) });

/** What `writeBack` names, compared with the attributes of conversations and of each ticket type that asks. */
export function attributeComparer(settings: IntercomSettings, workspace: Workspace) {
  const { writeBack, ticketCategories } = settings;
  const needed = [...placesOf(writeBack)].map(
    ([part, name]): NeededField => ({ part, name, types: types[part] ?? ['string'] }),
  );

  function compare(of: string, path: string, { data }: z.output<typeof List>, extra: object = {}) {
    const current = data
      .filter(({ archived }) => !archived)
      .map(({ name, data_type: type, required }) => ({ name, type, required }));
    return compareFields<SetupItem>(needed, current, {
      ...{ of, field: 'attribute', place: 'Settings > Data' },
      missing({ name, types: [type] }) {
        const body = { name, description: 'Of the customer feedback', data_type: type, ...extra };
        const make = async () => {
          await workspace.call({ method: 'POST', path, body }, z.unknown());
          return {};
        };
        return { id: `${of}: ${name}`, what: `create the attribute "${name}" of ${of} (${type})`, make };
      },
    });
  }

  return async (): Promise<Comparison<SetupItem>[]> => {
    if (needed.length === 0) return [];
    const path = '/conversations/attributes';
    const ofConversations = compare('conversations', path, await workspace.call({ method: 'GET', path }, List));
    if (writeBack.tickets === 'conversation' || ticketCategories.length === 0) return [ofConversations];
    const { data } = await workspace.call({ method: 'GET', path: '/ticket_types' }, TicketTypes);
    const own = data.filter(({ archived, category }) => !archived && ticketCategories.some((one) => one === category));
    const hidden = { visible_on_create: false, visible_to_contacts: false };
    const ofTickets = own.map(({ id, name, ticket_type_attributes: list }) =>
      compare(`tickets of type "${name}"`, `/ticket_types/${id}/attributes`, list, hidden),
    );
    return [ofConversations, ...ofTickets];
  };
}
