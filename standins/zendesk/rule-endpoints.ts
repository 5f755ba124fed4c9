import { z } from 'zod';
import { ok, type StandinResponse } from '../kit/message.ts';
import { type Route, route } from '../kit/router.ts';
import { adminOnly, bodyOf, type Context, type Invalid, paged, recordInvalid, recordNotFound } from './context.ts';
import { callsOf, type Rule } from './webhooks.ts';

const value = z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.union([z.string(), z.number()]))]);
const condition = z.strictObject({ field: z.string(), operator: z.string(), value: value.default(null) });

/** What an admin may say of a trigger. */
const ruleBody = z.strictObject({
  title: z.string().min(1),
  active: z.boolean().default(true),
  description: z.string().optional(),
  category_id: z.string().optional(),
  position: z.number().int().optional(),
  conditions: z.strictObject({
    all: z
      .array(condition)
      .nullish()
      .transform((list) => list ?? []),
    any: z
      .array(condition)
      .nullish()
      .transform((list) => list ?? []),
  }),
  actions: z.array(z.strictObject({ field: z.string(), value })),
});

export const ruleRoutes: Route<Context>[] = [
  route('GET', '/api/v2/triggers', (context) => list(context, 'triggers', context.store.admin.triggers)),
  route('POST', '/api/v2/triggers', createTrigger),
  route('GET', '/api/v2/triggers/{id:\\d+}', showTrigger),
  route('PUT', '/api/v2/triggers/{id:\\d+}', updateTrigger),
  route('GET', '/api/v2/automations', (context) => list(context, 'automations', context.store.admin.automations)),
];

function list(context: Context, key: string, rules: readonly Rule[]): StandinResponse {
  const active = context.req.query.get('active');
  const found = rules.filter((rule) => active === null || String(rule.active) === active);
  return ok(
    paged(
      context,
      key,
      found.map((rule) => viewRule(rule, key, context.base)),
    ),
  );
}

function createTrigger(context: Context): StandinResponse {
  adminOnly(context);
  const { title, active, conditions, actions } = bodyOf(context, 'trigger', ruleBody);
  const rule: Rule = { id: context.store.nextId(), title, active, conditions, actions };
  const details = faultsOf(rule, context);
  if (Object.keys(details).length > 0) throw recordInvalid(details);
  context.store.admin.triggers.push(rule);
  return { status: 201, body: { trigger: viewRule(rule, 'triggers', context.base) } };
}

function showTrigger(context: Context, { id }: Readonly<Record<string, string>>): StandinResponse {
  return ok({ trigger: viewRule(triggerOf(context, id), 'triggers', context.base) });
}

function updateTrigger(context: Context, { id }: Readonly<Record<string, string>>): StandinResponse {
  adminOnly(context);
  const rule = triggerOf(context, id);
  const given = bodyOf(context, 'trigger', ruleBody.partial());
  const changed: Rule = {
    ...rule,
    ...(given.title === undefined ? {} : { title: given.title }),
    ...(given.active === undefined ? {} : { active: given.active }),
    // Either clears both.
    ...(given.conditions === undefined && given.actions === undefined
      ? {}
      : { conditions: given.conditions ?? { all: [], any: [] }, actions: given.actions ?? [] }),
  };
  const details = faultsOf(changed, context);
  if (Object.keys(details).length > 0) throw recordInvalid(details);
  Object.assign(rule, changed);
  return ok({ trigger: viewRule(rule, 'triggers', context.base) });
}

function triggerOf({ store }: Context, id: string | undefined): Rule {
  const rule = store.admin.triggers.find((one) => one.id === Number(id));
  if (rule === undefined) throw recordNotFound();
  return rule;
}

/** A trigger needs a condition and an action, and calls only webhooks that are connected to triggers. */
function faultsOf(rule: Rule, { store }: Context): Invalid {
  const say = (description: string): Invalid[string] => [{ description, error: 'BlankValue' }];
  if (rule.actions.length === 0) return { actions: say('Actions: cannot be blank') };
  if (rule.conditions.all.length + rule.conditions.any.length === 0)
    return { conditions: say('Conditions: cannot be blank') };
  for (const { webhookId, body } of callsOf(rule)) {
    const webhook = store.webhooks.find((one) => one.id === webhookId);
    if (webhook?.subscriptions.includes('conditional_ticket_events') !== true)
      return { actions: [{ description: 'Actions: webhook is not valid', error: 'InvalidValue' }] };
    if (body.length > 16_000) return { actions: [{ description: 'Actions: payload is too long', error: 'TooLong' }] };
  }
  return {};
}

function viewRule({ id, title, active, conditions, actions }: Rule, key: string, base: string): object {
  return {
    url: `${base}/api/v2/${key}/${id}.json`,
    id,
    title,
    raw_title: title,
    active,
    default: false,
    description: null,
    position: id,
    conditions,
    actions,
  };
}
