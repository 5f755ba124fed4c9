import { z } from 'zod';
import { ok, type StandinResponse } from '../kit/message.ts';
import { type Route, route } from '../kit/router.ts';
import { bodyOf, type Context, problem } from './context.ts';
import type { Attribute } from './definitions.ts';
import { viewAttribute, viewType, viewTypeAttribute } from './views.ts';

const list = (data: unknown[]): StandinResponse => ok({ type: 'list', data });

export const accountRoutes: Route<Context>[] = [
  route('GET', '/me', ({ store, settings, appId }) => {
    const [admin] = store.admins.values();
    const app = { type: 'app', id_code: appId, name: 'Shop', timezone: settings.timezone, region: settings.region };
    return ok({ ...admin, app, email_verified: true, has_inbox_seat: true });
  }),
  route('GET', '/admins', ({ store }) => ok({ type: 'admin.list', admins: [...store.admins.values()] })),
  route('GET', '/teams', ({ store }) => {
    const teams = [...store.teams].map(([id, name]) => ({ type: 'team', id: String(id), name, admin_ids: [] }));
    return ok({ type: 'team.list', teams });
  }),
  route('GET', '/conversations/attributes', ({ store }) =>
    list(store.attributes.filter(({ archived }) => !archived).map(viewAttribute)),
  ),
  route('POST', '/conversations/attributes', (context) => {
    const attribute = made(context, New);
    context.store.attributes.push(attribute);
    return ok(viewAttribute(attribute));
  }),
  route('GET', '/ticket_types', ({ store }) => list(store.types.map(viewType))),
  route('POST', '/ticket_types/{id:\\d+}/attributes', (context, { id }) => {
    const type = context.store.types.find((one) => one.id === id);
    if (type === undefined) throw problem(404, 'not_found', 'Resource Not Found');
    const attribute = made(context, NewOfType);
    type.attributes.push(attribute);
    return ok(viewTypeAttribute(attribute, type));
  }),
];

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
function made(context: Context, schema: typeof New | typeof NewOfType): Attribute {
  const { name, data_type: dataType } = bodyOf(context, schema, 'attribute');
  return { id: context.store.nextId(), name, dataType, required: false, archived: false, deaf: false };
}
