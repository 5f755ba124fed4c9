import { z } from 'zod';
import { ok } from '../kit/message.ts';
import { type Route, route } from '../kit/router.ts';
import { type Context, denied, invalid, listed, notFound, problem, valid, validBody } from './context.ts';
import { type Rule, ruleBody, ruleTypes } from './rules.ts';
import { viewAgent, viewField, viewRating } from './views.ts';

const rulesOf = `/api/v2/automations/{kind:${ruleTypes}}/rules`;
const FieldBody = z.strictObject({
  label: z.string().min(1),
  label_for_customers: z.string().min(1),
  type: z.string().regex(/^custom_(text|paragraph|number|decimal|checkbox|date|dropdown)$/),
  ...{ displayed_to_customers: z.boolean().default(false), customers_can_edit: z.boolean().default(false) },
  ...{ required_for_closure: z.boolean().default(false), required_for_agents: z.boolean().default(false) },
  required_for_customers: z.boolean().default(false),
  position: z.int().exactOptional(),
  choices: z.array(z.strictObject({ value: z.string(), position: z.int() })).default([]),
});
const noQuery = z.strictObject({});

export const otherRoutes: Route<Context>[] = [
  route('GET', '/api/v2/agents', (context) => listed(context, [...context.account.agents.values()].map(viewAgent))),
  route('GET', '/api/v2/groups', (context) => listed(context, [...context.account.groups.values()])),
  route('GET', '/api/v2/ticket_fields', ({ account, query }) => {
    const { type } = valid(z.strictObject({ type: z.string().exactOptional() }), query);
    const all = [...account.fields.values()].filter((field) => type === undefined || field.type === type);
    return ok(all.map((field) => viewField(field, account.settings)));
  }),
  route('POST', '/api/v2/admin/ticket_fields', (context) => {
    const { account, req } = administered(context);
    const { label, type, required_for_agents: isRequired, choices } = validBody(req, FieldBody);
    const name = `cf_${label.toLowerCase().replace(/\W+/g, '_')}${account.settings.suffixes ? '297457' : ''}`;
    if (account.fields.has(name))
      throw invalid({ field: 'label', message: 'It should be a unique value', code: 'duplicate_value' });
    const field = account.addField({ name, label, type, isRequired, choices: choices.map(({ value }) => value) });
    return { status: 201, body: viewField(field, account.settings) };
  }),
  route('GET', rulesOf, (context, { kind }) => {
    const { account } = administered(context);
    const rules = [...account.rules.all.values()].filter(({ type }) => String(type) === kind);
    return ok({ rules: rules.map((rule) => viewRule(context, rule)), meta: { count: rules.length } });
  }),
  route('POST', rulesOf, (context, { kind }) => {
    const { account, req } = administered(context);
    const rule = { id: account.nextId(), type: Number(kind), outdated: false, ...validBody(req, ruleBody) };
    account.rules.all.set(rule.id, rule);
    return { status: 201, body: viewRule(context, rule) };
  }),
  route('PUT', `${rulesOf}/{id:\\d+}`, (context, { id }) => {
    const { account, req } = administered(context);
    const rule = account.rules.all.get(Number(id));
    if (rule === undefined) throw notFound();
    return ok(viewRule(context, Object.assign(rule, validBody(req, ruleBody), { outdated: false })));
  }),
  route('GET', '/api/v2/surveys', (context) => {
    surveyed(context);
    valid(z.strictObject({ state: z.enum(['active', 'inactive']).exactOptional() }), context.query);
    return ok(context.account.ratings.length === 0 ? [] : [{ id: 1, title: 'Standard', active: true, questions: [] }]);
  }),
  route('GET', '/api/v2/surveys/satisfaction_ratings', (context) => {
    const { account, query } = surveyed(context);
    const { created_since } = valid(RatingsQuery, query);
    const since = created_since === undefined ? 0 : Date.parse(created_since);
    return listed(context, account.ratings.filter(({ at }) => at >= since).map(viewRating));
  }),
];

const RatingsQuery = z.strictObject({
  created_since: z.iso.datetime({ offset: true }).exactOptional(),
  page: z.string().exactOptional(),
  per_page: z.string().exactOptional(),
});

function administered(context: Context): Context {
  valid(noQuery, context.query);
  if (!context.agent.isAdmin) throw denied();
  return context;
}

function surveyed(context: Context): Context {
  if (context.account.settings.surveys) return context;
  throw problem(403, 'require_feature', 'The Surveys feature(s) is/are not supported in your plan.');
}

function viewRule({ account }: Context, { type, actions, ...rule }: Rule): Record<string, unknown> {
  const hidden = (action: Rule['actions'][number]) => {
    const headers = 'custom_headers' in action ? Object.keys(action.custom_headers as object) : [];
    return { ...action, custom_headers: Object.fromEntries(headers.map((name) => [name, '****'])) };
  };
  const shown = account.settings.hidesHeaders ? actions.map(hidden) : actions;
  return { ...rule, automation_type_id: type, actions: shown, position: 1, affected_tickets_count: 0 };
}
