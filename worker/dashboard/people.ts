import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Contact } from '../../core/contact.ts';
import { CloseloopError, messageOf } from '../../core/errors.ts';
import type { ContactRecord } from '../../core/feedback/schemas.ts';
import type { Erasure, Proof } from '../journey/erasures.ts';
import { gradeInWords } from '../journey/outcomes.ts';
import { contactsNamed } from '../support/named-contacts.ts';
import {
  beginMasking,
  isNothing,
  mostAccesses,
  nothingErased,
  nothingErasedWords,
  type PersonHere,
  type PersonThere,
  personHere,
  personThere,
  takingErasures,
} from '../support/people.ts';
import { erasureAt } from './addresses.ts';
import { Audit } from './audit.ts';
import { formToken, mayAct, nameOf, seesContacts } from './guard.ts';
import { type Content, type Html, html } from './html.ts';
import { type DashboardOptions, show } from './pages.ts';
import { serviceThere } from './readings.ts';
import { shownContact } from './shown-answer.ts';
import { sentence, time } from './times.ts';
import { actingForm, hidden, searchForm } from './views/forms.ts';
import { facts, journeyLink, named, stateBadge, table } from './views/table.ts';

const Search = z.object({ q: z.string().trim().min(1).max(1_000) });
const Mask = z.object({ contact: z.string().catch(''), sure: z.literal('yes').optional().catch(undefined) });
const Named = z.object({ source: z.string(), id: z.string() });

/** The most erasures that the page lists. */
const mostErasures = 50;

/**
 * `/people`: what closeloop knows of a person, and the person's erasure. The searched text is in the body of a form, and the response is the
 * page: browsers and proxies keep addresses of pages.
 */
export function showPeople(app: FastifyInstance, options: DashboardOptions): void {
  const audit = new Audit(options.redis);
  const page = { title: 'People', section: '/people' };

  app.get('/people', async (_request, reply) => {
    const { timeZone } = options.config().feedback;
    return await show(reply, { ...page, body: peopleView({ erasures: await erasuresOf(options), timeZone }) });
  });

  app.post('/people', { config: { access: 'read', isSearch: true } }, async (request, reply) => {
    const { q } = Search.safeParse(request.body).data ?? {};
    if (q === undefined) return await reply.redirect('/people', 303);
    return await show(reply, { ...page, body: await personOf(q, request, reply) });
  });

  app.post('/people/confirm', async (request, reply) => {
    const { contact } = Mask.parse(request.body);
    const body = maskView({ contact: contactOf(contact, options).value, csrf: formToken(reply) });
    return await show(reply, { title: 'Mask this person?', section: '/people', body });
  });

  app.post('/people/mask', async (request, reply) => {
    const { contact, sure } = Mask.parse(request.body);
    if (sure === undefined)
      throw new CloseloopError('Nothing was done: the form asks you to confirm it with a tick.', { kind: 'config' });
    const { value } = contactOf(contact, options);
    const context = takingErasures(options.engine().pipelines.values());
    const who = nameOf(request);
    await audit.note({ at: options.now(), who, what: 'mask a person', about: context.name });
    const id = await beginMasking(value, 'asked for on the page', context);
    await context.queueErasure(id, 0);
    await audit.note({ at: options.now(), who, what: `began erasure ${id}`, about: context.name });
    return await reply.redirect(erasureAt(context.name, id), 303);
  });

  app.get('/people/erasures/:source/:id', async (request, reply) => {
    const { source, id } = Named.parse(request.params);
    const context = (await options.engine().sources()).find(
      ({ name, storedAs }) => name === source || storedAs === source,
    );
    if (context === undefined) return reply.callNotFound();
    // The open erasure is read before the proof: an erasure that ends between the two reads has its proof then.
    const open = await context.erasures.get(id);
    const proof = open ? undefined : await context.erasures.proof(id);
    if (!open && !proof) return reply.callNotFound();
    const body = erasureView({ open, proof, timeZone: context.timeZone });
    return await show(reply, { title: `Erasure ${id}`, section: '/people', body });
  });

  async function personOf(text: string, request: FastifyRequest, reply: FastifyReply) {
    const { feedback, retention } = options.config();
    return personView({
      contacts: seesContacts(request),
      ...(await whoIsNamed(text, options)),
      keptDays: Math.round(retention.journeys / 86_400_000),
      csrf: mayAct(request) ? formToken(reply) : undefined,
      timeZone: feedback.timeZone,
    });
  }
}

type AskedOptions = Pick<DashboardOptions, 'config' | 'engine' | 'now'>;

interface NamedPerson {
  contact: Contact;
  there: AtService;
  here: PersonHere;
}

/** The person whom closeloop knows by one of the text's readings; else the person of the usual reading. */
async function whoIsNamed(text: string, options: AskedOptions): Promise<NamedPerson> {
  const { defaultCountry } = options.config();
  const [usual, ...others] = contactsNamed(text, { defaultCountry });
  const first = await personBehind(usual, options);
  for (const other of isUnknown(first) ? others : []) {
    const found = await personBehind(other, options);
    if (!isUnknown(found)) return found;
  }
  return first;
}

async function personBehind(contact: Contact, options: AskedOptions): Promise<NamedPerson> {
  const there = await atService(contact, options);
  const sources = await options.engine().sources();
  const here = await personHere(contact, sources, { known: there.person?.record, now: options.now() });
  return { contact, there, here };
}

const isUnknown = ({ there, here }: NamedPerson): boolean => there.person?.record === undefined && isNothing(here);

/** @throws CloseloopError permanent for a text that can't be a contact */
function contactOf(text: string, { config }: Pick<DashboardOptions, 'config'>): Contact {
  return contactsNamed(text, { defaultCountry: config().defaultCountry })[0];
}

interface AtService {
  person?: PersonThere;
  problem?: string;
}

/** The person's data at the service, or why the service can't be asked. */
async function atService(contact: Contact, options: Pick<DashboardOptions, 'engine'>): Promise<AtService> {
  const { first, problem } = await serviceThere(options);
  if (first === undefined) return { problem };
  try {
    return { person: await personThere(first.feedback, contact) };
  } catch (error) {
    if (!(error instanceof CloseloopError)) throw error;
    return { problem: messageOf(error) };
  }
}

/** The open erasures, then the proofs of completed erasures, newest first. */
async function erasuresOf({ engine }: Pick<DashboardOptions, 'engine'>): Promise<ListedErasure[]> {
  const lists = await Promise.all(
    (await engine().sources()).map(async ({ name: source, erasures }) => {
      const [open, proofs] = await Promise.all([erasures.open(), erasures.all()]);
      return [
        ...open.map(({ id, what, receivedAt: at }) => ({ source, id, what, at, isDone: false })),
        ...proofs.map(({ id, what, at }) => ({ source, id, what, at, isDone: true })),
      ];
    }),
  );
  return lists
    .flat()
    .sort((a, b) => Number(a.isDone) - Number(b.isDone) || b.at.getTime() - a.at.getTime())
    .slice(0, mostErasures);
}

interface ListedErasure {
  source: string;
  id: string;
  what: string;
  at: Date;
  isDone: boolean;
}

/** The page before a search. */
function peopleView({ erasures, timeZone }: { erasures: readonly ListedErasure[]; timeZone: string }): Html {
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
    columns: [named('Erasure'), 'State', 'Request', 'When'],
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

function personView(person: Person): Html {
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
  return html`<form method="post" action="/people/confirm" class="actions">${hidden('csrf', csrf)}${hidden('contact', contact.value)}<button>Mask this person…</button></form>`;
}

function serviceFacts({ record }: PersonThere, timeZone: string): Html {
  if (record === undefined) return html`<p>The service has no feedback request of this contact, or it was masked.</p>`;
  const at = (instant: Date | null): Content => (instant ? time(instant, timeZone) : '–');
  const { blacklist } = record;
  return facts([
    ['Contact', record.contact],
    ['Requests sent', html`${record.num_appeals}, the last scheduled ${at(record.last_appeal)}`],
    ['Grades received', html`${record.num_feedback}, the last ${at(record.last_grade)}`],
    ['Last comment', at(record.last_comment)],
    ['Last survey', at(record.last_survey)],
    ['Averages', averages(record)],
    [
      'Blacklist',
      blacklist ? html`on it since ${time(blacklist.date_added, timeZone)}: nobody asks them` : 'not on it',
    ],
    ['Graylists', graylists(record, timeZone)],
  ]);
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
<tr><th scope="row">Linked addresses</th><td>${addresses === 1 ? 'none' : addresses - 1}</td><td>Beside this one. Digests, so that throttles count a person once; kept as long as the longest throttle</td></tr>
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
    columns: [named('Journey'), 'State', 'Why', 'Grade', 'Closed'],
    rows: journeys
      .slice(0, mostJourneys)
      .map(({ journey, context: { name } }) => [
        journeyLink(name, journey.id),
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
        columns: ['When', named('Who'), named('Where')],
        rows: accesses.map(({ user, action, date_accessed }) => [time(date_accessed, timeZone), user, action]),
      })
}`;
}

function maskView({ contact, csrf }: { contact: string; csrf: string }): Html {
  return html`<p class="notice bad"><strong>${contact}</strong> is masked at the Feedback service, with every other address that their journeys name. It can not be undone.</p>
<ul>
<li>At the service their contacts, and custom fields that are marked as personal data, are masked on every request. Grades, comments and statistics stay, under nobody’s name.</li>
<li>Here their journeys, snapshots and waiting events lose what names them. A request that is still to be sent is cancelled.</li>
<li>What closeloop has written on records is taken off where the vendor lets it.</li>
</ul>
${actingForm({
  at: '/people/mask',
  csrf,
  content: html`${hidden('contact', contact)}
<div class="choice"><input type="checkbox" id="sure" name="sure" value="yes" required><label for="sure">Mask them, and forget them here</label></div>`,
  button: 'Mask this person',
  back: '/people',
})}`;
}

interface ShownErasure {
  open: Erasure | undefined;
  proof: Proof | undefined;
  timeZone: string;
}

/** The progress of an erasure; after its end the proof of what was done. */
function erasureView({ open, proof, timeZone }: ShownErasure): Html {
  return html`<div id="erasure" data-live>
${open && inProgress(open, timeZone)}
${proof && proofOf(proof, timeZone)}
</div>
<p class="actions"><a class="button" href="/people">People</a></p>`;
}

function inProgress({ what, receivedAt, tries, held, nextAt }: Erasure, timeZone: string): Html {
  return html`<p>${doneBadge(false)} It is at work, and goes on by itself: a worker does it.</p>
${facts([
  ['Request', html`${what}, ${time(receivedAt, timeZone)}`],
  ['Attempts', tries],
  ['Held by', held.join('; ')],
  ['Next attempt', held.length > 0 && time(nextAt, timeZone)],
])}`;
}

function proofOf(proof: Proof, timeZone: string): Html {
  const { at, unreadable = [] } = proof;
  const nothing = nothingErased(proof);
  return html`<p>${doneBadge(true)} Everything that came in before ${time(at, timeZone)} is erased.</p>
${nothing && html`<p class="notice">${nothingErasedWords[nothing]}</p>`}
${unreadable.length > 0 && html`<p class="notice bad">What could not be read was left out, and may still hold their data: ${unreadable.join('; ')}. Look at it in Redis, and remove it there.</p>`}
${facts([
  ['Proof', proof.id],
  ['Request', proof.what],
  ['Journeys erased', proof.journeys],
  ['Contacts masked', proof.contacts],
  ['Requests masked at the service', proof.requestsMasked],
  ['Mentions taken out of others’ records', proof.mentions],
  ['Answers on records', proof.writtenAnswers],
  ['What stays', html`<ul class="plain">${proof.kept.map((one) => html`<li>${one}</li>`)}</ul>`],
])}`;
}
