import type { Contact } from '../../../core/contact.ts';
import type { ContactRecord } from '../../../core/feedback/schemas.ts';
import type { Erasure, Proof } from '../../journey/erasures.ts';
import { gradeInWords } from '../../journey/grade-in-words.ts';
import { refOf } from '../../journey/refs.ts';
import {
  isNothing,
  mostAccesses,
  nothingErased,
  nothingErasedWords,
  type PersonHere,
  type PersonThere,
} from '../../support/people.ts';
import { erasureAt, journeyAt } from '../addresses.ts';
import { type Content, type Html, html } from '../html.ts';
import { shownContact } from '../shown-contact.ts';
import { sentence, time } from '../times.ts';
import { csrfField, searchForm } from './forms.ts';
import { stateBadge } from './state.ts';
import { table } from './table.ts';

export interface ListedErasure {
  source: string;
  id: string;
  what: string;
  at: Date;
  isDone: boolean;
}

/** The page before a search. */
export function peopleView({ erasures, timeZone }: { erasures: readonly ListedErasure[]; timeZone: string }): Html {
  return html`${search}
<h2>Erasures</h2>
${erasures.length === 0 ? html`<p>Nobody has asked to be erased.</p>` : erasureTable(erasures, timeZone)}`;
}

const search = searchForm({
  action: '/people',
  label: 'E-mail address, phone number or identifier of a person',
  button: 'Find',
});

function erasureTable(erasures: readonly ListedErasure[], timeZone: string): Html {
  return table({
    name: 'Erasures',
    caption: 'Those that are not done first. Nobody is named in them.',
    columns: [{ name: 'Erasure', kind: 'ref' }, { name: 'State' }, { name: 'Request' }, { name: 'When' }],
    rows: erasures.map(({ source, id, what, at, isDone }) => [
      html`<a href="${erasureAt(source, id)}">${id}</a>`,
      doneBadge(isDone),
      `${source}: ${what}`,
      time(at, timeZone),
    ]),
  });
}

function doneBadge(isDone: boolean): Html {
  return isDone ? html`<span class="state good">done</span>` : html`<span class="state wait">not done</span>`;
}

interface Person {
  contact: Contact;
  there: { person?: PersonThere; problem?: string };
  here: PersonHere;
  /** Whether the page shows in full also addresses that the visitor has not typed. */
  contacts: boolean;
  /** How long a settled journey is kept. */
  keptDays: number;
  /** Undefined: the visitor may not act. */
  csrf: string | undefined;
  timeZone: string;
}

const kinds = { phone: 'phone number', email: 'e-mail address', identifier: 'identifier' } as const;

export function personView(person: Person): Html {
  const { contact, there, here, timeZone } = person;
  return html`${search}
<h2>${contact.value} <span class="quiet">(${kinds[contact.kind]})</span></h2>
${here.isErased && html`<p class="notice">They were erased: a digest of this contact is kept, so that what came in before is not stored again.</p>`}
${maskButton(person)}
<h2>At the Feedback service</h2>
${there.problem !== undefined && html`<p class="notice"><strong>The service does not tell:</strong> ${there.problem}</p>`}
${there.person && serviceFacts(there.person, timeZone)}
<h2>Here, and why</h2>
${kept(person)}
<h2>Journeys</h2>
${journeyTable(here, timeZone)}
${there.person?.record && accessLog(there.person, timeZone)}`;
}

function maskButton({ contact, csrf }: Person): Content {
  if (csrf === undefined) return undefined;
  return html`<form method="post" action="/people/confirm" class="actions">${csrfField(csrf)}<input type="hidden" name="contact" value="${contact.value}"><button>Mask this person…</button></form>`;
}

function serviceFacts({ record }: PersonThere, timeZone: string): Html {
  if (record === undefined) return html`<p>The service has no feedback request of this contact, or it was masked.</p>`;
  const at = (instant: Date | null): Content => (instant ? time(instant, timeZone) : '–');
  return html`<dl class="facts">
<dt>Contact</dt><dd>${record.contact}</dd>
<dt>Requests sent</dt><dd>${record.num_appeals}, the last scheduled ${at(record.last_appeal)}</dd>
<dt>Grades received</dt><dd>${record.num_feedback}, the last ${at(record.last_grade)}</dd>
<dt>Last comment</dt><dd>${at(record.last_comment)}</dd>
<dt>Last survey</dt><dd>${at(record.last_survey)}</dd>
<dt>Averages</dt><dd>${averages(record)}</dd>
<dt>Blacklist</dt><dd>${record.blacklist ? html`on it since ${time(record.blacklist.date_added, timeZone)}: nobody asks them` : 'not on it'}</dd>
<dt>Graylists</dt><dd>${graylists(record, timeZone)}</dd>
</dl>`;
}

function averages({ avg_grade, index_csat, index_nps }: ContactRecord): string {
  const parts = [
    ...avg_grade.map(({ scale, avg }) => `${avg} (${scale})`),
    ...(index_csat === null ? [] : [`CSAT ${index_csat} %`]),
    ...(index_nps === null ? [] : [`NPS ${index_nps}`]),
  ];
  return parts.length === 0 ? '–' : parts.join(', ');
}

function graylists({ graylist }: ContactRecord, timeZone: string): Content {
  if (!graylist || graylist.campaigns.length === 0) return 'on none';
  return graylist.campaigns.map(
    ({ id, name, date_added }) => html`${name} (${id}), since ${time(date_added, timeZone)}<br>`,
  );
}

/** The data that closeloop stores of the person, why, and until when. */
function kept({ here, keptDays, timeZone, contacts }: Person): Html {
  const { journeys, askedBy, values, addresses, asks, throttles } = here;
  if (isNothing(here)) return html`<p>Nothing is stored of them here.</p>`;
  return html`<div class="wide" role="region" aria-label="What is stored here" tabindex="0"><table>
<thead><tr><th scope="col">What</th><th scope="col">Of them</th><th scope="col">Why it is kept, and until when</th></tr></thead>
<tbody>
<tr><th scope="row">Journeys</th><td>${journeys.length}</td><td>Tell what was decided about each closing, and hold contact, grade and comment; removed ${keptDays} days after they ended</td></tr>
${askedBy.length > 0 && html`<tr><th scope="row">Other addresses</th><td>${askedBy.map((one) => html`${shownContact(one, contacts)}<br>`)}</td><td>Asked in journeys that know this contact as another address of the same person</td></tr>`}
${[...values].map(([field, all]) => html`<tr><th scope="row">${field}</th><td>${[...all].join(', ')}</td><td>Custom field, sent to the service with a request; kept with its journey</td></tr>`)}
<tr><th scope="row">Linked addresses</th><td>${addresses === 1 ? 'none' : addresses}</td><td>Digests, so that throttles count a person once; kept as long as the longest throttle</td></tr>
<tr><th scope="row">Requests that throttles count</th><td>${asks.length === 0 ? 'none' : asks.map(({ at, campaign }) => html`${time(at, timeZone)}, campaign ${campaign ?? 'not known'}<br>`)}</td><td>So that nobody is asked too often, also by a throttle that is set later; kept for 400 days</td></tr>
<tr><th scope="row">Throttles that run</th><td>${throttles.length === 0 ? 'none' : throttles.map(({ source, rule, why }) => html`${source}, rule ${rule}: ${sentence(why, timeZone)}<br>`)}</td><td>What keeps a rule from asking them now</td></tr>
</tbody></table></div>`;
}

/** The most journeys that the page shows. */
const mostJourneys = 100;

function journeyTable({ journeys }: PersonHere, timeZone: string): Html {
  if (journeys.length === 0) return html`<p>No closing of theirs is known.</p>`;
  return table({
    name: 'Journeys',
    caption: `${journeys.length > mostJourneys ? `The last ${mostJourneys} of ${journeys.length}. ` : ''}Newest closing first.`,
    columns: [
      { name: 'Journey', kind: 'ref' },
      { name: 'State' },
      { name: 'Why' },
      { name: 'Grade' },
      { name: 'Closed' },
    ],
    rows: journeys
      .slice(0, mostJourneys)
      .map(({ journey, context: { name } }) => [
        html`<a href="${journeyAt(name, journey.id)}">${refOf(name, journey.id)}</a>`,
        stateBadge(journey.state),
        sentence(journey.why ?? '', timeZone),
        gradeInWords(journey) ?? '–',
        time(journey.closedAt, timeZone),
      ]),
  });
}

function accessLog({ accesses, isCut }: PersonThere, timeZone: string): Html {
  return html`<h2>Who looked at their data at the service</h2>
<p class="quiet">Users of the service’s own pages. What programs read by key, as this page does, is not recorded there.${isCut && ` The last ${mostAccesses}.`}</p>
${
  accesses.length === 0
    ? html`<p>Nobody.</p>`
    : table({
        name: 'Access log',
        columns: [{ name: 'When' }, { name: 'Who', kind: 'ref' }, { name: 'Where', kind: 'ref' }],
        rows: accesses.map(({ user, action, date_accessed }) => [time(date_accessed, timeZone), user, action]),
      })
}`;
}

export function maskView({ contact, csrf }: { contact: string; csrf: string }): Html {
  return html`<p class="notice bad"><strong>${contact}</strong> is masked at the Feedback service, with every other address that their journeys name. It can not be undone.</p>
<ul>
<li>At the service their contacts, and custom fields that are marked as personal data, are masked on every request. Grades, comments and statistics stay, under nobody’s name.</li>
<li>Here their journeys, snapshots and waiting events lose what names them. A request that is still to be sent is cancelled.</li>
<li>What closeloop has written on records is taken off where the vendor lets it.</li>
</ul>
<form method="post" action="/people/mask">
${csrfField(csrf)}
<input type="hidden" name="contact" value="${contact}">
<div class="choice"><input type="checkbox" id="sure" name="sure" value="yes" required><label for="sure">Mask them, and forget them here</label></div>
<p class="actions"><button class="main-button">Mask this person</button> <a class="button" href="/people">Back</a></p>
</form>`;
}

interface ShownErasure {
  open: Erasure | undefined;
  proof: Proof | undefined;
  timeZone: string;
}

/** The progress of an erasure; after its end the proof of what was done. */
export function erasureView({ open, proof, timeZone }: ShownErasure): Html {
  return html`<div id="erasure" data-live>
${open && inProgress(open, timeZone)}
${proof && proofOf(proof, timeZone)}
</div>
<p class="actions"><a class="button" href="/people">People</a></p>`;
}

function inProgress({ what, receivedAt, tries, held, nextAt }: Erasure, timeZone: string): Html {
  return html`<p>${doneBadge(false)} It is at work, and goes on by itself: a worker does it.</p>
<dl class="facts"><dt>Request</dt><dd>${what}, ${time(receivedAt, timeZone)}</dd>
<dt>Attempts</dt><dd>${tries}</dd>
${held.length > 0 && html`<dt>Held by</dt><dd>${held.join('; ')}</dd><dt>Next attempt</dt><dd>${time(nextAt, timeZone)}</dd>`}</dl>`;
}

function proofOf(proof: Proof, timeZone: string): Html {
  const {
    id,
    at,
    what,
    journeys,
    contacts,
    requestsMasked,
    mentions,
    writtenAnswers,
    kept: left,
    unreadable = [],
  } = proof;
  const nothing = nothingErased(proof);
  return html`<p>${doneBadge(true)} Everything that came in before ${time(at, timeZone)} is erased.</p>
${nothing && html`<p class="notice">${nothingErasedWords[nothing]}</p>`}
${unreadable.length > 0 && html`<p class="notice bad">What could not be read was left out, and may still hold their data: ${unreadable.join('; ')}. Look at it in Redis, and remove it there.</p>`}
<dl class="facts">
<dt>Proof</dt><dd>${id}</dd>
<dt>Request</dt><dd>${what}</dd>
<dt>Journeys erased</dt><dd>${journeys}</dd>
<dt>Contacts masked</dt><dd>${contacts}</dd>
<dt>Requests masked at the service</dt><dd>${requestsMasked}</dd>
<dt>Mentions taken out of others’ records</dt><dd>${mentions}</dd>
<dt>Answers on records</dt><dd>${writtenAnswers}</dd>
<dt>What stays</dt><dd><ul class="plain">${left.map((one) => html`<li>${one}</li>`)}</ul></dd>
</dl>`;
}
