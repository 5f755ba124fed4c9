import { z } from 'zod';
import { ok, type StandinResponse } from '../kit/message.ts';
import { type Route, route } from '../kit/router.ts';
import { adminOnly, bodyOf, type Context, paged, recordInvalid } from './context.ts';
import { type Rule, ruleCondition, ruleValue } from './definitions.ts';
import { callsOf } from './webhooks.ts';

const conditions = z
  .array(ruleCondition)
  .nullish()
  .transform((list) => list ?? []);

/** What an admin may say of a trigger. */
const ruleBody = z.strictObject({
  title: z.string().min(1),
  active: z.boolean().default(true),
  description: z.string().optional(),
  category_id: z.string().optional(),
  position: z.number().int().optional(),
  conditions: z.strictObject({ all: conditions, any: conditions }),
  actions: z.array(z.strictObject({ field: z.string(), value: ruleValue })),
});

export const ruleRoutes: Route<Context>[] = [
  route('GET', '/api/v2/triggers', (context) => list(context, 'triggers', context.store.admin.triggers)),
  route('POST', '/api/v2/triggers', createTrigger),
  route('GET', '/api/v2/automations', (context) => list(context, 'automations', context.store.admin.automations)),
];

function list(context: Context, key: string, rules: readonly Rule[]): StandinResponse {
  const active = context.req.query.get('active');
  const found = rules.filter((rule) => active === null || String(rule.active) === active);
  const views = found.map((rule) => viewRule(rule, key, context.base));
  return ok(paged(context, key, views));
}

function createTrigger(context: Context): StandinResponse {
  adminOnly(context);
  const { title, active, conditions, actions } = bodyOf(context, 'trigger', ruleBody);
  const rule: Rule = { id: context.store.nextId(), title, active, conditions, actions };
  checkRule(rule, context);
  context.store.admin.triggers.push(rule);
  return { status: 201, body: { trigger: viewRule(rule, 'triggers', context.base) } };
}

/** A trigger needs a condition and an action, and calls only webhooks that are connected to triggers. @throws Problem 422 */
function checkRule(rule: Rule, { store }: Context): void {
  const refuse = (field: string, description: string, error = 'BlankValue') =>
    recordInvalid({ [field]: [{ description, error }] });
  if (rule.actions.length === 0) throw refuse('actions', 'Actions: cannot be blank');
  if (rule.conditions.all.length + rule.conditions.any.length === 0)
    throw refuse('conditions', 'Conditions: cannot be blank');
  for (const { webhookId, body } of callsOf(rule)) {
    const webhook = store.webhooks.find((one) => one.id === webhookId);
    if (webhook?.subscriptions.includes('conditional_ticket_events') !== true)
      throw refuse('actions', 'Actions: webhook is not valid', 'InvalidValue');
    if (body.length > 16_000) throw refuse('actions', 'Actions: payload is too long', 'TooLong');
  }
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
