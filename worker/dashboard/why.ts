import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Condition } from '../support/conditions.ts';
import { type Answer, answerWhy, type ExplainedClosing, unheardOf } from '../support/why.ts';
import { type ExplainedRecord, explainRecord, type IfClosedNow } from '../support/why-record.ts';
import { journeyAt } from './addresses.ts';
import { seesContacts } from './guard.ts';
import { type Content, type Html, html, linked } from './html.ts';
import { type DashboardOptions, show } from './pages.ts';
import { shownContact } from './shown-answer.ts';
import { sentence, time } from './times.ts';
import { searchForm } from './views/forms.ts';
import { table as dataTable, facts, named, stateBadge } from './views/table.ts';

const text = z.string().trim().max(1_000).catch('');
const Search = z.object({ q: text });
/** The journey's reference in an address, which is no personal data. */
const Linked = z.object({ journey: text.refine((ref) => ref.includes('/')).catch('') });

/** `/why`: why a customer was asked or not, in the words of `closeloop why`. */
export function showWhy(app: FastifyInstance, { engine, redis }: Pick<DashboardOptions, 'engine' | 'redis'>): void {
  const bodyOf = async (about: string, request: FastifyRequest) => {
    const contacts = seesContacts(request);
    if (about === '') return whyView({ about, contacts });
    const { pipelines, absent } = engine();
    const sources = [...pipelines.values(), ...(await absent.all()).map(({ pipeline }) => pipeline)];
    return whyView({ about, contacts, answer: await answerWhy(sources, about, { redis, explainRecord }) });
  };
  const page = { title: 'Why', section: '/why' };

  app.get('/why', async (request, reply) => {
    return await show(reply, { ...page, body: await bodyOf(Linked.parse(request.query).journey, request) });
  });
  // The search is a POST and the response is the page, as browsers keep addresses of pages, and the searched text may be a customer's address.
  app.post('/why', { config: { access: 'read', isSearch: true } }, async (request, reply) => {
    return await show(reply, { ...page, body: await bodyOf(Search.parse(request.body ?? {}).q, request) });
  });
}

/** @param shown `answer`: left out before a search; `contacts`: whether addresses are shown in full */
export function whyView({ about, answer, contacts }: { about: string; answer?: Answer; contacts: boolean }): Html {
  const label = 'E-mail address, phone number, identifier, record or journey';
  return html`${searchForm({ action: '/why', label, button: 'Why?', value: about })}
${answer && found(answer, contacts)}`;
}

function found(answer: Answer, contacts: boolean): Html {
  const { closings, earlier, records, sources } = answer;
  const [newest] = closings;
  const waiting = sources.filter(({ notPlanned }) => notPlanned > 0);
  return html`${newest ? html`<p class="notice">${sentence(newest.what, newest.timeZone)}</p>` : nothing(answer)}
${waiting.map(({ source, notPlanned }) => html`<p class="notice">Events of ${source} that wait to be planned: ${notPlanned}. A closing may be among them.</p>`)}
${newest && table(closings, newest.timeZone)}
${earlier > 0 && html`<p>Earlier closings that are not shown: ${earlier}.</p>`}
${records.map((one) => record(one, contacts))}`;
}

function nothing(answer: Answer): Html {
  return html`<p class="notice">${unheardOf(answer)} <a href="/people">People</a> shows what else is known of them.</p>`;
}

function table(closings: Answer['closings'], timeZone: string): Html {
  return html`<h2>Closings</h2>
${dataTable({
  name: 'Closings',
  caption: `Newest first. Times in ${timeZone}.`,
  columns: [named('Journey'), 'State', 'Why', 'Rule', 'Closed'],
  rows: closings.map(closing),
})}`;
}

function closing({ ref, source, journey, timeZone, what, because, remedy }: ExplainedClosing): Content[] {
  const { id, state, closedAt, rule } = journey;
  return [
    html`<a href="${journeyAt(source, id)}">${ref}</a>`,
    stateBadge(state),
    html`${sentence(what, timeZone)}${because.map((line) => html`<br>${sentence(line, timeZone)}`)}${remedy !== undefined && html`<br>What helps: <code>closeloop ${remedy}</code>`}`,
    rule ?? '–',
    time(closedAt, timeZone),
  ];
}

function record(one: ExplainedRecord, contacts: boolean): Html {
  const { source, record: name, url, state, why, timeZone, conditions, ifClosedNow } = one;
  const title = html`Record ${linked(name, url)} of ${source}, as it is now`;
  if (state === 'unreachable') return html`<h2>${title}</h2><p class="notice bad">It could not be read: ${why}</p>`;
  if (state === 'out') return html`<h2>${title}</h2><p class="notice">Nobody is asked about it: ${why}</p>`;
  return html`<h2>${title}</h2>
<p>${closed(one)}</p>
${conditions.length > 0 && conditionTable(conditions, `${name} of ${source}`)}
${ifClosedNow && forecast(ifClosedNow, { timeZone, contacts })}`;
}

function closed({ closedAt, journey, timeZone }: ExplainedRecord): Content {
  if (closedAt === undefined) return 'It is not closed.';
  return html`Closed ${time(closedAt, timeZone)}${journey === undefined ? ': nothing is decided about that yet' : ` (${journey})`}.`;
}

function conditionTable(conditions: readonly Condition[], of: string): Html {
  return dataTable({
    name: `Conditions of ${of}`,
    caption: 'Every condition, in the order in which they are looked at',
    columns: ['Of', 'Condition', 'Value', 'In the record'],
    rows: conditions.map(row),
  });
}

function row({ of, rule, condition, is, why, saw = {}, decides }: Condition): Content[] {
  const seen = Object.entries(saw).map(([name, value]) => html`<code>${name}</code> is ${value}<br>`);
  return [
    of === 'never' ? 'never' : `rule ${rule}`,
    html`<code>${condition}</code>`,
    html`${is.replace('-', ' ')}${decides && html` <strong>decides</strong>`}`,
    why ?? seen,
  ];
}

const heads = { ask: 'The customer would be asked', skip: 'Nobody would be asked', unknown: 'That is not known now' };

interface Shown {
  timeZone: string;
  contacts: boolean;
}

function forecast(now: IfClosedNow, shown: Shown): Html {
  const { timeZone } = shown;
  const because = now.why !== undefined && html`: ${sentence(now.why, timeZone)}`;
  return html`<h3>If it closed now</h3>
<p class="${now.decision === 'ask' ? 'notice good' : 'notice'}">${heads[now.decision]}${because}.</p>
${now.heldUp.map((one) => html`<p class="notice bad">Held up: ${sentence(one, timeZone)}</p>`)}
${now.decision !== 'unknown' && details(now, shown)}`;
}

function details(
  { decision, rule, request, trace }: Exclude<IfClosedNow, { decision: 'unknown' }>,
  { timeZone, contacts }: Shown,
): Html {
  const because = trace.length > 0 && html`<ul>${trace.map((line) => html`<li>${sentence(line, timeZone)}</li>`)}</ul>`;
  if (request === undefined) return html`${because}`;
  const { campaign, contact, test, values, dueAt } = request;
  return html`${facts([
    ['Rule', rule?.name],
    ['Campaign', `${campaign.name} (${campaign.id}, ${campaign.type})`],
    ['Contact', `${shownContact(contact, contacts)} (${contact.kind})`],
    ['TEST', test && `it would go to ${shownContact(test, contacts)}, not to the customer`],
    ...Object.entries(values).map(([name, value]) => [name, String(value)] as const),
    ['Sent', decision === 'ask' && html`${time(dueAt, timeZone)} (${timeZone})`],
  ])}
${because}`;
}
