import { ok } from '../kit/message.ts';
import { type Route, route } from '../kit/router.ts';
import type { Context } from './context.ts';
import type { Ticket } from './model.ts';

/** Brands, forms and custom statuses: what an account names once for all its tickets. */
export const nameRoutes: Route<Context>[] = [
  route('GET', '/api/v2/brands', (context) => ok({ brands: brands(context), count: context.store.brands.size })),
  route('GET', '/api/v2/ticket_forms', (context) =>
    ok({ ticket_forms: forms(context), count: context.store.forms.size }),
  ),
  route('GET', '/api/v2/custom_statuses', (context) => ok({ custom_statuses: customStatuses(context) })),
];

/** Brands, forms and custom statuses beside tickets: those that the tickets name. */
export function nameSideloads(context: Context, names: readonly string[], tickets: readonly Ticket[]) {
  if (!context.store.settings.nameSideloads) return {};
  const of = (wanted: readonly number[]): ((one: { id: number }) => boolean) => {
    const ids = new Set(wanted);
    return ({ id }) => ids.has(id);
  };
  return {
    ...(names.includes('brands') && { brands: brands(context).filter(of(tickets.map(({ brandId }) => brandId))) }),
    ...(names.includes('ticket_forms') && {
      ticket_forms: forms(context).filter(of(tickets.map(({ formId }) => formId))),
    }),
    ...(names.includes('custom_statuses') && {
      custom_statuses: customStatuses(context).filter(of(tickets.map(({ customStatusId }) => customStatusId))),
    }),
  };
}

const brands = ({ store, base }: Context) =>
  [...store.brands].map(([id, name], index) => ({
    url: `${base}/api/v2/brands/${id}.json`,
    id,
    name,
    brand_url: base,
    subdomain: name.toLowerCase().replace(/\W+/g, '-'),
    host_mapping: null,
    has_help_center: false,
    active: true,
    default: index === 0,
  }));

const forms = ({ store, base }: Context) =>
  [...store.forms].map(([id, name], index) => ({
    url: `${base}/api/v2/ticket_forms/${id}.json`,
    id,
    name,
    raw_name: name,
    display_name: name,
    position: index,
    active: true,
    default: index === 0,
    end_user_visible: true,
    ticket_field_ids: [],
    in_all_brands: true,
  }));

const customStatuses = ({ store }: Context) =>
  [...store.customStatuses].map(([id, { category, label }]) => ({
    id,
    status_category: category,
    agent_label: label,
    raw_agent_label: label,
    end_user_label: label,
    active: true,
    default: id <= 5005,
  }));
