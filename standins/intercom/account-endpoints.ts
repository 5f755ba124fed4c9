import { z } from 'zod';
import { jsonBody, type StandinResponse } from '../kit/message.ts';
import type { Params, Route } from '../kit/router.ts';
import { type Context, invalid, problem } from './context.ts';
import type { Attribute } from './definitions.ts';
import { viewAttribute, viewType, viewTypeAttribute } from './views.ts';

const list = (data: unknown[]): StandinResponse => ({ status: 200, body: { type: 'list', data } });

export const accountRoutes: Route<Context>[] = [
  { method: 'GET', template: '/me', answer: me },
  {
    method: 'GET',
    template: '/admins',
    answer: ({ store }) => ({ status: 200, body: { type: 'admin.list', admins: [...store.admins.values()] } }),
  },
  {
    method: 'GET',
    template: '/teams',
    answer: ({ store }) => {
      const teams = [...store.teams].map(([id, name]) => ({ type: 'team', id: String(id), name, admin_ids: [] }));
      return { status: 200, body: { type: 'team.list', teams } };
    },
  },
  {
    method: 'GET',
    template: '/conversations/attributes',
    answer: ({ store }) => list(store.attributes.filter(({ archived }) => !archived).map(viewAttribute)),
  },
  { method: 'POST', template: '/conversations/attributes', answer: addAttribute },
  { method: 'GET', template: '/ticket_types', answer: ({ store }) => list(store.types.map(viewType)) },
  { method: 'POST', template: '/ticket_types/{id:\\d+}/attributes', answer: addTypeAttribute },
];

function me({ store, settings, appId }: Context): StandinResponse {
  const [admin] = store.admins.values();
  const app = { type: 'app', id_code: appId, name: 'Shop', timezone: settings.timezone, region: settings.region };
  return { status: 200, body: { ...admin, app, email_verified: true, has_inbox_seat: true } };
}

const dataTypes = ['string', 'integer', 'decimal', 'boolean', 'datetime'] as const;
const New = z.strictObject({
  name: z.string().min(1).max(190),
  description: z.string().optional(),
  data_type: z.enum(dataTypes),
  multiline: z.boolean().optional(),
});
/** Its description is required. */
const NewOfType = New.extend({
  description: z.string(),
  visible_on_create: z.boolean().default(true),
  visible_to_contacts: z.boolean().default(true),
  required_to_create: z.boolean().default(false),
});

/** Names are not unique: of two attributes with one name neither can be written. */
function made({ store, req }: Context, schema: typeof New | typeof NewOfType): Attribute {
  const parsed = schema.safeParse(jsonBody(req));
  if (!parsed.success) throw invalid('The attribute is malformed');
  const { name, data_type: dataType } = parsed.data;
  return { id: store.nextId(), name, dataType, required: false, archived: false, deaf: false };
}

function addAttribute(context: Context): StandinResponse {
  const attribute = made(context, New);
  context.store.attributes.push(attribute);
  return { status: 200, body: viewAttribute(attribute) };
}

function addTypeAttribute(context: Context, { id }: Params): StandinResponse {
  const type = context.store.types.find((one) => one.id === id);
  if (type === undefined) throw problem(404, 'not_found', 'Resource Not Found');
  const attribute = made(context, NewOfType);
  type.attributes.push(attribute);
  return { status: 200, body: viewTypeAttribute(attribute, type) };
}
