import { recipientPlace } from '../../../core/schedule/recipient-place.ts';
import { type JourneyCall, mostCalls } from '../../journey/calls.ts';
import type { Journey, TraceLine } from '../../journey/journey.ts';
import { gradeInWords } from '../../journey/outcomes.ts';
import { refOf } from '../../journey/refs.ts';
import { endInWords } from '../../support/call-words.ts';
import { stateInWords } from '../../support/follow-ups.ts';
import type { Repair } from '../../support/repair.ts';
import type { SurveyAnswer } from '../../support/survey-answers.ts';
import { followUpAt, journeyAt, listAt, whyAt } from '../addresses.ts';
import { type Content, type Html, html, linked } from '../html.ts';
import { shownContact } from '../shown-contact.ts';
import { sentence, time } from '../times.ts';
import { csrfField } from './forms.ts';
import { stateBadge } from './state.ts';
import { table } from './table.ts';

interface ShownJourney {
  source: string;
  /** The word for the source's records: "ticket". */
  recordNoun: string | undefined;
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

const done: Record<Repair, string> = {
  'ask-now': 'It is asked as soon as it may be: the timeline shows when, and what happens.',
  replay: 'It was taken up again: the timeline shows what happens.',
  cancel: 'It was cancelled.',
  resolve: 'It was resolved: the timeline shows what happens.',
};

export function journeyView(shown: ShownJourney): Html {
  const { journey, source, recordNoun, trace, others, repairs, timeZone, did } = shown;
  return html`${did && html`<p class="notice good" role="status">${done[did]}</p>`}
<div id="journey" data-live>
<p>${stateBadge(journey.state, recordNoun)} ${sentence(journey.why ?? '', timeZone)}</p>
${actions(source, journey, repairs)}
${facts(shown)}
<h2>What happened</h2>
<ol class="timeline">${trace.map(({ at, text }) => html`<li>${time(at, timeZone)}${sentence(text, timeZone)}</li>`)}${planned(journey, timeZone)}</ol>
${callsPart(shown)}
</div>
<p><a href="${whyAt(refOf(source, journey.id))}">Why, and what would be sent if it closed now</a></p>
${
  others.length > 0 &&
  html`<h2>Other closings of this record</h2>
<ul>${others.map((one) => html`<li>${stateBadge(one.state, recordNoun)} <a href="${journeyAt(source, one.id)}">${refOf(source, one.id)}</a> ${one.why}</li>`)}</ul>`
}`;
}

function actions(source: string, { id }: Journey, repairs: readonly Repair[]): Content {
  if (repairs.length === 0) return undefined;
  const names: Record<Repair, string> = {
    'ask-now': 'Ask now…',
    replay: 'Replay…',
    cancel: 'Cancel…',
    resolve: 'Resolve…',
  };
  return html`<p class="actions">${repairs.map((one) => html`<a class="button" href="${journeyAt(source, id, one)}">${names[one]}</a>`)}</p>`;
}

function facts({
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
  return html`<dl class="facts">
${fact('Record', html`${linked(name, recordUrl)}${currentId !== undefined && currentId !== recordId && html` (merged; it was ${recordId})`}`)}
${fact('Source', html`<a href="${listAt({ source })}">${source}</a>`)}
${fact('Closed', time(closedAt, timeZone))}
${fact('Rule', rule)}
${fact('Campaign', campaign === undefined ? undefined : `${campaignName ?? ''} (${campaign})`.trim())}
${fact('Contact', contact && `${shownContact(contact, contacts)} (${contact.kind})`)}
${fact('Asks', dueOf(journey, timeZone))}
${fact('Request', requestId && linked(requestId, requestUrl))}
${fact(requestMade(journey), askedAt && time(askedAt, timeZone))}
${fact('Grade', answer && (gradeInWords(journey) ?? '–'))}
${fact('Comment', answer?.comment)}
${fact('Follow-up', journey.followUp && html`<a href="${followUpAt(source, journey.id)}">${sentence(stateInWords(journey.followUp, now), timeZone)}</a>`)}
${survey.map(({ id, question = `Question ${id}`, answer }) => fact(question, answer))}
${Object.entries(journey.values ?? {}).map(([field, value]) => fact(field, String(value)))}
</dl>`;
}

/** The purpose of a request: it asks the customer, unless it is a test or holds an external grade. */
function requestMade({ test, given }: Journey): string {
  if (test) return 'Test contact asked';
  return given?.delivered ? 'Request for the grade given elsewhere' : 'Asked';
}

function fact(name: string, value: Content): Content {
  if (value === undefined || value === null || value === '') return undefined;
  return html`<dt>${name}</dt><dd>${value}</dd>`;
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
  columns: [
    { name: 'When' },
    { name: 'To' },
    { name: 'Call', kind: 'ref' },
    { name: 'Status' },
    { name: 'ms', kind: 'right' },
    { name: 'Tries', kind: 'right' },
  ],
  rows: calls.map((call) => [
    time(call.at, timeZone),
    call.to,
    call.operation,
    statusOf(call),
    ...[call.ms, call.tries],
  ]),
})}`;
}

/** The status of a call. A 404 counts as good, because it often is the sought answer: the service does not know the contact, for example. */
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

const effects: Record<Repair, string> = {
  'ask-now':
    "The customer is asked ahead of the planned time: neither the delay nor the rule's window is waited for. The campaign's hours, those of text messages, holidays, caps, throttles, the service's lists and never hold as always.",
  replay: 'The record is read and decided on anew, or the step that failed is taken again. Nobody is asked twice.',
  cancel:
    'The customer is not asked. A request that the service has not sent yet is cancelled there; one that was sent stays.',
  resolve: 'closeloop could not find out by itself: say what you found out at the service, or on the record.',
};

export function confirmView({ action, source, journey, isOpen, csrf, timeZone }: Confirmed): Html {
  const back = html`<a class="button" href="${journeyAt(source, journey.id)}">Back</a>`;
  if (!isOpen)
    return html`<p class="notice">That does not help this journey as it is: ${stateBadge(journey.state)}</p><p class="actions">${back}</p>`;
  return html`<p>${stateBadge(journey.state)} ${sentence(journey.why ?? '', timeZone)}</p>
<p>${effects[action]}</p>
<form method="post" action="${journeyAt(source, journey.id, action)}">
${csrfField(csrf)}
${action === 'cancel' && reason()}
${action === 'resolve' && findings(journey)}
<p class="actions"><button class="main-button">${buttons[action]}</button> ${back}</p>
</form>`;
}

const buttons: Record<Repair, string> = {
  'ask-now': 'Ask now',
  replay: 'Replay it',
  cancel: 'Cancel it',
  resolve: 'Resolve it',
};

function reason(): Html {
  return html`<div class="filter"><div class="grow"><label for="why">Why, for its timeline (no names: it outlives an erasure)</label>
<input id="why" name="why" value="cancelled by a person" required maxlength="500"></div></div>`;
}

function findings({ answer }: Journey): Html {
  if (answer) return html`<input type="hidden" name="as" value="written"><p>Its grade is on the record.</p>`;
  return html`<fieldset><legend>What you found out</legend>
<div class="choice"><input type="radio" id="not-asked" name="as" value="not-asked" required><label for="not-asked">The customer was not asked: ask now</label></div>
<div class="choice"><input type="radio" id="asked" name="as" value="asked"><label for="asked">The customer was asked, by this feedback request:</label></div>
<div class="choice"><label for="request">Request</label><input id="request" name="request" maxlength="200" autocomplete="off"></div>
</fieldset>`;
}
