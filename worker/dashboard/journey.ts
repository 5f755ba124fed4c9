import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import { recipientPlace } from '../../core/schedule/recipient-place.ts';
import { type JourneyCall, mostCalls } from '../journey/calls.ts';
import type { Journey, TraceLine } from '../journey/journey.ts';
import { gradeInWords } from '../journey/outcomes.ts';
import { currentRecordOf, refOf } from '../journey/refs.ts';
import { SealError } from '../redis/seal.ts';
import { askNow } from '../support/ask-now.ts';
import { endInWords } from '../support/call-words.ts';
import { cancel, findAnywhere, type Repair, repairsOf, replay, resolve, type Settled } from '../support/repair.ts';
import { type SurveyAnswer, SurveyAnswers } from '../support/survey-answers.ts';
import { journeyAt, listAt, whyAt } from './addresses.ts';
import { followUpLink } from './answers.ts';
import { Audit } from './audit.ts';
import { formToken, mayAct, nameOf, seesContacts } from './guard.ts';
import { type Content, type Html, html, linked } from './html.ts';
import { type DashboardOptions, show } from './pages.ts';
import { shownContact, shownRecord } from './shown-answer.ts';
import { sentence, time } from './times.ts';
import { actingForm, backTo, hidden, reasonField, told } from './views/forms.ts';
import { facts, journeyLink, named, right, stateBadge, table } from './views/table.ts';

const Named = z.object({ source: z.string(), id: z.string() });

class NotFound extends CloseloopError {
  readonly statusCode = 404;

  constructor(ref: string, cause: CloseloopError) {
    super(`There is no journey "${ref}": it was removed, or the address is wrong.`, cause.advice, { cause });
  }
}

/**
 * Finds the journey that an address names by `:source` and `:id`. @throws CloseloopError for a journey that does not exist: "page not
 * found"
 */
export async function journeyOf(request: FastifyRequest, { engine }: Pick<DashboardOptions, 'engine'>) {
  const { source, id } = Named.parse(request.params);
  const ref = refOf(source, id);
  return await findAnywhere(engine(), ref).catch((error: unknown) => {
    // Of a text that does not open, its own words are the clue.
    const isGone =
      error instanceof CloseloopError && error.advice.kind === 'permanent' && !(error instanceof SealError);
    if (isGone) throw new NotFound(ref, error);
    throw error;
  });
}

const repairs = ['ask-now', 'replay', 'cancel', 'resolve'] as const satisfies readonly Repair[];
const Action = z.object({ action: z.enum(repairs) });
const Done = z.object({ did: z.enum(repairs).optional().catch(undefined) });

const CancelForm = z.object({ why: z.string().trim().min(1).max(500).catch('cancelled by a person') });
const ResolveForm = z.object({
  as: z.enum(['asked', 'not-asked', 'written']),
  request: z.string().trim().max(200).catch(''),
});

/**
 * A journey's page, and the actions on a journey. A person confirms each action on a page of its own, and closeloop writes it into the
 * audit log.
 */
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
    return await show(reply, { title: `${words[action].title} ${ref}?`, section: '/journeys', body });
  });
}

function takeSteps(app: FastifyInstance, options: DashboardOptions): void {
  const audit = new Audit(options.redis);
  app.post('/journeys/:source/:id/:action', async (request, reply) => {
    const action = actionOf(request.params);
    if (action === undefined) return reply.callNotFound();
    const found = await journeyOf(request, options);
    const { journey, context } = found;
    const entry = { at: options.now(), who: nameOf(request), what: action, about: refOf(context.name, journey.id) };
    await audit.noting(entry, () => take(action, found, request.body));
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

interface ShownJourney {
  source: string;
  journey: Journey;
  trace: readonly TraceLine[];
  calls: readonly JourneyCall[];
  survey: readonly SurveyAnswer[];
  /** The vendor's id of the record; undefined: it was erased. */
  recordName: string | undefined;
  recordUrl: string | undefined;
  /** The request's address in the service's own pages. */
  requestUrl: string | undefined;
  /** Whether customers' addresses are shown in full. */
  contacts: boolean;
  now: Date;
  /** The other journeys of the same record. */
  others: readonly Journey[];
  repairs: readonly Repair[];
  timeZone: string;
  /** The action that the person has just done. */
  did: Repair | undefined;
}

/** The actions that a person may take on a journey: the title, the text of the button, the consequence, and the message afterwards. */
const words: Record<Repair, { title: string; button: string; effect: string; done: string }> = {
  'ask-now': {
    title: 'Ask now about',
    button: 'Ask now',
    effect:
      "The customer is asked ahead of the planned time: neither the delay nor the rule's window is waited for. The campaign's hours, those of text messages, holidays, caps, throttles, the service's lists and never hold as always.",
    done: 'It is asked as soon as it may be: the timeline shows when, and what happens.',
  },
  replay: {
    title: 'Replay',
    button: 'Replay it',
    effect: 'The record is read and decided on anew, or the step that failed is taken again. Nobody is asked twice.',
    done: 'It was taken up again: the timeline shows what happens.',
  },
  cancel: {
    title: 'Cancel',
    button: 'Cancel it',
    effect:
      'The customer is not asked. A request that the service has not sent yet is cancelled there; one that was sent stays.',
    done: 'It was cancelled.',
  },
  resolve: {
    title: 'Resolve',
    button: 'Resolve it',
    effect: 'closeloop could not find out by itself: say what you found out at the service, or on the record.',
    done: 'It was resolved: the timeline shows what happens.',
  },
};

function journeyView(shown: ShownJourney): Html {
  const { journey, source, trace, others, repairs, timeZone, did } = shown;
  return html`${did && told(words[did].done)}
<div id="journey" data-live>
<p>${stateBadge(journey.state)} ${sentence(journey.why ?? '', timeZone)}</p>
${actions(source, journey, repairs)}
${factsOf(shown)}
<h2>What happened</h2>
<ol class="timeline">${trace.map(({ at, text }) => html`<li>${time(at, timeZone)}${sentence(text, timeZone)}</li>`)}${planned(journey, timeZone)}</ol>
${callsPart(shown)}
</div>
<p><a href="${whyAt(refOf(source, journey.id))}">Why, and what would be sent if it closed now</a></p>
${
  others.length > 0 &&
  html`<h2>Other closings of this record</h2>
<ul>${others.map((one) => html`<li>${stateBadge(one.state)} ${journeyLink(source, one.id)} ${one.why}</li>`)}</ul>`
}`;
}

function actions(source: string, { id }: Journey, repairs: readonly Repair[]): Content {
  if (repairs.length === 0) return undefined;
  return html`<p class="actions">${repairs.map((one) => html`<a class="button" href="${journeyAt(source, id, one)}">${words[one].button.replace(' it', '')}…</a>`)}</p>`;
}

function factsOf({
  journey,
  survey,
  source,
  recordName,
  recordUrl,
  requestUrl,
  timeZone,
  contacts,
  now,
}: ShownJourney): Html {
  const { recordId, currentId, rule, campaign, campaignName, contact, requestId, askedAt, answer, closedAt } = journey;
  const name = recordName ?? recordId;
  return facts([
    [
      'Record',
      html`${linked(name, recordUrl)}${currentId !== undefined && currentId !== recordId && html` (merged; it was ${recordId})`}`,
    ],
    ['Source', html`<a href="${listAt({ source })}">${source}</a>`],
    ['Closed', time(closedAt, timeZone)],
    ['Rule', rule],
    ['Campaign', campaign === undefined ? undefined : `${campaignName ?? ''} (${campaign})`.trim()],
    ['Contact', contact && `${shownContact(contact, contacts)} (${contact.kind})`],
    ['Asks', dueOf(journey, timeZone)],
    ['Request', requestId && linked(requestId, requestUrl)],
    [requestMade(journey), askedAt && time(askedAt, timeZone)],
    ['Grade', answer && (gradeInWords(journey) ?? '–')],
    ['Comment', answer?.comment],
    ['Follow-up', followUpLink(source, journey, { now, timeZone })],
    ...survey.map(({ id, question = `Question ${id}`, answer }) => [question, answer] as const),
    ...Object.entries(journey.values ?? {}).map(([field, value]) => [field, String(value)] as const),
  ]);
}

/** The purpose of a request: it asks the customer, unless it is a test or holds an external grade. */
function requestMade({ test, given }: Journey): string {
  if (test) return 'Test contact asked';
  return given?.delivered ? 'Request for the grade given elsewhere' : 'Asked';
}

function dueOf(journey: Journey, timeZone: string): Content {
  const { state, dueAt } = journey;
  if (state !== 'waiting' || !dueAt) return undefined;
  const theirs = theirTime(journey, timeZone);
  return html`${time(dueAt, timeZone)} (${timeZone})${theirs && html`<br>${theirs}`}`;
}

/** The due time in the recipient's zone, if it is not the account's zone. */
function theirTime({ dueAt, place = {} }: Journey, timeZone: string): Html | undefined {
  const { zone, isKnown } = recipientPlace(place, timeZone);
  if (!dueAt || !isKnown || zone === timeZone) return undefined;
  return html`${time(dueAt, zone)} (${zone}, the recipient's)`;
}

/** The calls that closeloop made for this journey, and how each ended. */
function callsPart({ calls, timeZone }: ShownJourney): Content {
  if (calls.length === 0) return undefined;
  return html`<h2>Calls</h2>
${table({
  name: 'Calls',
  caption: `The last ${mostCalls} that closeloop made for this journey; one call may have served a hundred journeys.`,
  columns: ['When', 'To', named('Call'), 'Status', right('ms'), right('Tries')],
  rows: calls.map((call) => [
    time(call.at, timeZone),
    call.to,
    call.operation,
    statusOf(call),
    ...[call.ms, call.tries],
  ]),
})}`;
}

/**
 * The status of a call. A 404 counts as good, because it often is the sought answer: the service does not know the contact, for example.
 */
function statusOf(call: JourneyCall): Content {
  const isWell = typeof call.end === 'number' && (call.end < 400 || call.end === 404);
  return isWell ? call.end : html`<span class="state bad">${endInWords(call)}</span>`;
}

/** The next step of the journey, shown below the steps that have happened. */
function planned(journey: Journey, timeZone: string): Content {
  const { state, dueAt } = journey;
  if (state !== 'waiting' || !dueAt) return undefined;
  const theirs = theirTime(journey, timeZone);
  return html`<li>${time(dueAt, timeZone)}${theirs && html`${theirs}<br>`}planned: the customer is asked, if the record is still closed</li>`;
}

interface Confirmed {
  action: Repair;
  source: string;
  journey: Journey;
  /** Whether the action can help the journey in its present state. */
  isOpen: boolean;
  csrf: string;
  timeZone: string;
}

function confirmView({ action, source, journey, isOpen, csrf, timeZone }: Confirmed): Html {
  const back = journeyAt(source, journey.id);
  if (!isOpen)
    return html`<p class="notice">That does not help this journey as it is: ${stateBadge(journey.state)}</p><p class="actions">${backTo(back)}</p>`;
  const content = {
    cancel: reasonField('Why, for its timeline (no names: it outlives an erasure)', 'cancelled by a person'),
    resolve: findings(journey),
    'ask-now': undefined,
    replay: undefined,
  }[action];
  return html`<p>${stateBadge(journey.state)} ${sentence(journey.why ?? '', timeZone)}</p>
<p>${words[action].effect}</p>
${actingForm({ at: journeyAt(source, journey.id, action), csrf, content, button: words[action].button, back })}`;
}

function findings({ answer }: Journey): Html {
  if (answer) return html`${hidden('as', 'written')}<p>Its grade is on the record.</p>`;
  return html`<fieldset><legend>What you found out</legend>
<div class="choice"><input type="radio" id="not-asked" name="as" value="not-asked" required><label for="not-asked">The customer was not asked: ask now</label></div>
<div class="choice"><input type="radio" id="asked" name="as" value="asked"><label for="asked">The customer was asked, by this feedback request:</label></div>
<div class="choice"><label for="request">Request</label><input id="request" name="request" maxlength="200" autocomplete="off"></div>
</fieldset>`;
}
