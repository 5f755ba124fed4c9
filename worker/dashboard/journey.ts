import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import { currentRecordOf, refOf } from '../journey/refs.ts';
import { askNow } from '../support/ask-now.ts';
import { cancel, type Repair, repairsOf, replay, resolve, type Settled } from '../support/repair.ts';
import { SurveyAnswers } from '../support/survey-answers.ts';
import { journeyAt } from './addresses.ts';
import { Audit } from './audit.ts';
import { journeyOf } from './find.ts';
import { formToken, mayAct, nameOf, seesContacts } from './guard.ts';
import type { DashboardOptions } from './options.ts';
import { show } from './pages.ts';
import { shownRecord } from './shown-contact.ts';
import { confirmView, journeyView } from './views/journey.ts';

const repairs = ['ask-now', 'replay', 'cancel', 'resolve'] as const satisfies readonly Repair[];
const Action = z.object({ action: z.enum(repairs) });
const Done = z.object({ did: z.enum(repairs).optional().catch(undefined) });

const CancelForm = z.object({ why: z.string().trim().min(1).max(500).catch('cancelled by a person') });
const ResolveForm = z.object({
  as: z.enum(['asked', 'not-asked', 'written']),
  request: z.string().trim().max(200).catch(''),
});

/** A journey's page, and the actions on a journey. A person confirms each action on a page of its own, and closeloop writes it into the audit log. */
export function showJourney(app: FastifyInstance, options: DashboardOptions): void {
  showPage(app, options);
  confirmSteps(app, options);
  takeSteps(app, options);
}

function showPage(app: FastifyInstance, options: DashboardOptions): void {
  const surveys = new SurveyAnswers(options.now);
  app.get('/journeys/:source/:id', async (request, reply) => {
    const { journey, context } = await journeyOf(request, options);
    const { store, source } = context;
    const record = currentRecordOf(journey);
    const [trace, calls, [known] = [record], others] = await Promise.all([
      store.trace(journey),
      store.queries.callsOf(journey),
      source.vendorIds?.([record]),
      store.records.journeysOf(journey.recordId),
    ]);
    const ref = refOf(context.name, journey.id);
    const recordName = shownRecord(known, record, seesContacts(request));
    const body = journeyView({
      journey,
      source: context.name,
      recordNoun: source.recordNoun,
      trace,
      calls,
      survey: await surveys.answersOf(journey, context.feedback),
      recordName,
      recordUrl: recordName === undefined ? undefined : source.recordUrl?.(recordName),
      requestUrl: options.settings().requestUrl?.replaceAll('{request}', encodeURIComponent(journey.requestId ?? '')),
      others: others.filter(({ id }) => id !== journey.id),
      repairs: mayAct(request) ? repairsOf(journey) : [],
      contacts: seesContacts(request),
      now: options.now(),
      timeZone: context.timeZone,
      did: Done.parse(request.query).did,
    });
    return await show(reply, { title: `Journey ${ref}`, section: '/journeys', body });
  });
}

function confirmSteps(app: FastifyInstance, options: DashboardOptions): void {
  app.get('/journeys/:source/:id/:action', { config: { access: 'act' } }, async (request, reply) => {
    const action = actionOf(request.params);
    if (action === undefined) return reply.callNotFound();
    const { journey, context } = await journeyOf(request, options);
    const ref = refOf(context.name, journey.id);
    const body = confirmView({
      action,
      journey,
      source: context.name,
      isOpen: repairsOf(journey).includes(action),
      csrf: formToken(reply),
      timeZone: context.timeZone,
    });
    return await show(reply, { title: `${titles[action]} ${ref}?`, section: '/journeys', body });
  });
}

function takeSteps(app: FastifyInstance, options: DashboardOptions): void {
  const audit = new Audit(options.redis);
  app.post('/journeys/:source/:id/:action', async (request, reply) => {
    const action = actionOf(request.params);
    if (action === undefined) return reply.callNotFound();
    const found = await journeyOf(request, options);
    const { journey, context } = found;
    const ref = refOf(context.name, journey.id);
    const note = (what: string) => audit.note({ at: options.now(), who: nameOf(request), what, about: ref });
    await note(action);
    try {
      await take(action, found, request.body);
    } catch (error) {
      await note(`${action} was refused`);
      throw error;
    }
    return await reply.redirect(`${journeyAt(context.name, journey.id)}?did=${action}`, 303);
  });
}

/** @throws CloseloopError where the action is not possible: then nothing was changed */
export async function take(
  action: Repair,
  { journey, context }: Awaited<ReturnType<typeof journeyOf>>,
  form: unknown,
): Promise<void> {
  switch (action) {
    case 'ask-now':
      return void (await askNow(journey, context));
    case 'cancel':
      return void (await cancel(journey, CancelForm.parse(form).why, context));
    case 'resolve':
      return void (await resolve(journey, settledOf(form), context));
    case 'replay': {
      const outcome = await replay(journey, context);
      if (!outcome.startsWith('not ')) return;
      throw new CloseloopError(`${refOf(context.name, journey.id)} is ${outcome}.`, { kind: 'config' });
    }
  }
}

const titles = { 'ask-now': 'Ask now about', replay: 'Replay', cancel: 'Cancel', resolve: 'Resolve' } as const;

function actionOf(params: unknown): Repair | undefined {
  return Action.safeParse(params).data?.action;
}

/** @throws CloseloopError config for a form in which the person chose nothing */
function settledOf(body: unknown): Settled {
  const form = ResolveForm.safeParse(body);
  if (!form.success)
    throw new CloseloopError('Choose what you found out, then send the form again.', { kind: 'config' });
  const { as, request } = form.data;
  if (as !== 'asked') return as;
  if (request === '')
    throw new CloseloopError('Name the feedback request that the customer received.', { kind: 'config' });
  return { asked: request };
}
