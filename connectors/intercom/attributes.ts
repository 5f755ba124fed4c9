import { z } from 'zod';
import { placesOf } from '../../core/connector/answer.ts';
import { cached } from '../../core/connector/cached.ts';
import type { Comparison, SetupItem } from '../../core/connector/check.ts';
import type { ConnectorPorts, PreflightContext } from '../../core/connector/contract.ts';
import { compareFields, fractionsIn, gradeTypes, type NeededField } from '../../core/connector/fields.ts';
import { listOf } from '../../core/entries.ts';
import type { Value, Values } from './answer.ts';
import type { Workspace } from './api.ts';
import type { IntercomSettings } from './settings.ts';

/** What an attribute has to be for each part of an answer, and for these grades. */
function neededBy({ writeBack }: IntercomSettings, grades: readonly number[]): NeededField[] {
  return [...placesOf(writeBack)].map(([part, name]): NeededField => {
    if (part === 'answeredAt') return { part, name, types: ['datetime'] };
    if (part !== 'grade') return { part, name, types: ['string'] };
    const types = gradeTypes(grades, { whole: 'integer', fraction: 'decimal' });
    return { part, name, types, neededBy: fractionsIn(grades) };
  });
}

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

const path = '/conversations/attributes';

const ofConversations = (workspace: Workspace) => workspace.call({ method: 'GET', path }, List);
const ticketTypes = async (workspace: Workspace) =>
  (await workspace.call({ method: 'GET', path: '/ticket_types' }, TicketTypes)).data.filter(
    ({ archived }) => !archived,
  );

const inUse = ({ data }: z.output<typeof List>) => data.filter(({ archived }) => !archived);

/** What `writeBack` names, compared with the attributes of conversations and of each ticket type that asks. */
export function attributeComparer(settings: IntercomSettings, workspace: Workspace) {
  const { writeBack, ticketCategories } = settings;

  function compare(
    needed: readonly NeededField[],
    of: string,
    path: string,
    list: z.output<typeof List>,
    extra: object = {},
  ) {
    const current = inUse(list).map(({ name, data_type: type, required }) => ({ name, type, required }));
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

  return async ({ grades }: Pick<PreflightContext, 'grades'>): Promise<Comparison<SetupItem>[]> => {
    const needed = neededBy(settings, grades);
    if (needed.length === 0) return [];
    const onConversations = compare(needed, 'conversations', path, await ofConversations(workspace));
    if (writeBack.tickets === 'conversation' || ticketCategories.length === 0) return [onConversations];
    const own = (await ticketTypes(workspace)).filter(({ category }) =>
      ticketCategories.some((one) => one === category),
    );
    const hidden = { visible_on_create: false, visible_to_contacts: false };
    const onTickets = own.map(({ id, name, ticket_type_attributes: list }) =>
      compare(needed, `tickets of type "${name}"`, `/ticket_types/${id}/attributes`, list, hidden),
    );
    return [onConversations, ...onTickets];
  };
}

/** Why values are refused. */
interface Refusal {
  /** The names of attributes that are lacking, or can't take this record's values. */
  unfit: ReadonlySet<string>;
  /** Says so, in words. */
  findings: readonly string[];
  /** Conversations lack an attribute, or have two of its name: no conversation's answer can be written. */
  isOfAll: boolean;
}

/** Looks up why values are refused: an attribute that is lacking, or is of another type than its value. */
export function unfitReader(
  { writeBack }: IntercomSettings,
  workspace: Workspace,
  { now }: Pick<ConnectorPorts, 'now'>,
): (ticketType: string | undefined, values: Values) => Promise<Refusal> {
  const parts = new Map([...placesOf(writeBack)].map(([part, name]) => [name, part]));
  // Read once for each batch, as a person may mend at any time what the vendor refuses.
  const conversations = cached(async () => inUse(await ofConversations(workspace)), aMinuteMs, now);
  const types = cached(() => ticketTypes(workspace), aMinuteMs, now);

  return async (ticketType, values) => {
    const type = ticketType === undefined ? undefined : (await types()).find(({ name }) => name === ticketType);
    const attributes =
      ticketType === undefined ? await conversations() : inUse(type?.ticket_type_attributes ?? { data: [] });
    const of = ticketType === undefined ? 'conversations' : `tickets of the type "${ticketType}"`;
    const named = (name: string) => attributes.filter((one) => one.name === name);
    const lacking = [...values.keys()].filter((name) => named(name).length !== 1);
    const findings =
      lacking.length === 0
        ? []
        : [`${of} lack ${inWords(lacking)}, or have two of its name: writeBack names what each type has to have`];
    const unfit = [...values].flatMap(([name, value]) => {
      const [attribute] = lacking.includes(name) ? [] : named(name);
      if (attribute === undefined || takes(attribute.data_type, value)) return [];
      const what = parts.get(name) === 'grade' ? `the grade ${value}` : 'what is written there';
      const problem = `is of type ${attribute.data_type}, which does not take ${what}`;
      findings.push(`the attribute "${name}" of ${of} ${problem}: name another attribute`);
      return [name];
    });
    return {
      unfit: new Set([...lacking, ...unfit]),
      findings,
      isOfAll: ticketType === undefined && lacking.length > 0,
    };
  };
}

const inWords = (names: readonly string[]): string => `the attribute ${names.map((name) => `"${name}"`).join(', ')}`;

const aMinuteMs = 60_000;

function takes(type: string, value: Value): boolean {
  if (value === null) return true;
  if (type === 'integer' || type === 'datetime') return Number.isInteger(value);
  return type === 'decimal' ? typeof value === 'number' : type === 'string' && typeof value === 'string';
}
