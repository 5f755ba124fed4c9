import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import pLimit from 'p-limit';
import { z } from 'zod';
import { CloseloopError } from '../../core/errors.ts';
import { refOf } from '../journey/refs.ts';
import { findAnywhere, repairsOf } from '../support/repair.ts';
import { allOf, listAt } from './addresses.ts';
import { Audit } from './audit.ts';
import { formToken, nameOf } from './guard.ts';
import { type Html, html } from './html.ts';
import { take } from './journey.ts';
import {
  journeysOf,
  type ListQuery,
  type ManyAction,
  manyActions,
  manyTitles,
  queryOf,
  selectedPrefix,
} from './journeys.ts';
import { type DashboardOptions, show } from './pages.ts';
import { actingForm, backTo, hidden, reasonField } from './views/forms.ts';

/** How many journeys closeloop reads for a filter, and how many journeys one form acts on: the person waits for the result. */
const most = 1_000;
const mostAtOnce = 200;
const atOnce = 8;

const Action = z.object({ action: z.enum(manyActions) });

/** `/many/…`: the actions of a journey's page for many journeys: those that a person selected, or all that match a filter of the list. */
export function actOnMany(app: FastifyInstance, options: DashboardOptions): void {
  const audit = new Audit(options.redis);

  app.get('/many/:action', { config: { access: 'act' } }, async (request, reply) => {
    const { action } = Action.safeParse(request.params).data ?? {};
    if (action === undefined) return reply.callNotFound();
    const fields = fieldsOf(request.query);
    const refs = await refsFor(fields, action, options);
    if (refs.length === 0) return await showNothing(reply, fields);
    const body = manyView({ action, refs, fields, csrf: formToken(reply) });
    return await show(reply, { title: `${manyTitles[action]} ${refs.length} journeys?`, section: '/journeys', body });
  });

  app.post('/many/:action', async (request, reply) => {
    const { action } = Action.safeParse(request.params).data ?? {};
    if (action === undefined) return reply.callNotFound();
    const fields = fieldsOf(request.body);
    const all = await refsFor(fields, action, options);
    if (all.length === 0) return await showNothing(reply, fields);
    const refs = all.slice(0, mostAtOnce);
    const { state = '', source = '' } = queryOf(fields);
    const about =
      selectedIn(fields).length > 0 ? 'selected' : ['all that fit:', source, state].filter(Boolean).join(' ');
    await audit.note({ at: options.now(), who: nameOf(request), what: `${action} of ${refs.length} journeys`, about });
    const refused = await refusedOf(refs, action, request);
    const { after: _, ...filter } = queryOf(fields);
    return await reply.redirect(
      listAt({
        ...{ ...filter, did: action, done: String(refs.length - refused), refused: String(refused) },
        left: String(all.length - refs.length),
      }),
      303,
    );
  });

  /** Counts the journeys on which the action is not possible. They stay unchanged. */
  async function refusedOf(refs: readonly string[], action: ManyAction, request: FastifyRequest) {
    const limited = pLimit(atOnce);
    const attempts = refs.map((ref) =>
      limited(async () => {
        try {
          await take(action, await findAnywhere(options.engine(), ref), request.body);
          return true;
        } catch (error) {
          if (error instanceof CloseloopError) return false;
          throw error;
        }
      }),
    );
    return (await Promise.all(attempts)).filter((isDone) => !isDone).length;
  }
}

type Fields = Readonly<Record<string, string>>;

function fieldsOf(given: unknown): Fields {
  return z.record(z.string(), z.string().max(4_000).catch('')).parse(given ?? {});
}

function selectedIn(fields: Fields): string[] {
  return Object.keys(fields).flatMap((name) =>
    name.startsWith(selectedPrefix) ? [name.slice(selectedPrefix.length)] : [],
  );
}

/** Whether the person wants all journeys of a state. No filter at all never means every journey of the account. */
const isAll = (fields: Fields): boolean => allOf in fields && queryOf(fields).state !== undefined;

/** The references of the selected journeys, or of all journeys that match the filter and allow the action, where the person wants all. */
async function refsFor(fields: Fields, action: ManyAction, options: DashboardOptions): Promise<string[]> {
  const selected = selectedIn(fields);
  if (selected.length > 0) return selected.slice(0, most);
  if (!isAll(fields)) return [];
  const query: ListQuery = { ...queryOf(fields), after: undefined };
  const { journeys } = await journeysOf(query, options, { size: most, most });
  return journeys
    .filter(({ journey }) => repairsOf(journey).includes(action))
    .map(({ source, journey }) => refOf(source, journey.id));
}

async function showNothing(reply: FastifyReply, fields: Fields): Promise<FastifyReply> {
  const why = isAll(fields)
    ? 'No journey of these can have that.'
    : 'Select some first: tick journeys in the list. Nothing was done.';
  const body = html`<p class="notice">${why}</p><p class="actions">${backTo(listAt(queryOf(fields)))}</p>`;
  return await show(reply, { title: 'No journeys', section: '/journeys', body });
}

const shownRefs = 20;

interface Many {
  action: ManyAction;
  refs: readonly string[];
  /** The filter or the selected journeys, which the form sends along. */
  fields: Readonly<Record<string, string>>;
  csrf: string;
}

function manyView({ action, refs, fields, csrf }: Many): Html {
  const reason =
    action === 'cancel' &&
    reasonField('Why, for their timelines (no names: it outlives an erasure)', 'cancelled by a person');
  return html`${refs.length > mostAtOnce && html`<p class="notice">The first ${mostAtOnce} of them now; the others by the same form afterwards.</p>`}
<ul>${refs.slice(0, shownRefs).map((ref) => html`<li>${ref}</li>`)}</ul>
${refs.length > shownRefs && html`<p class="quiet">And ${refs.length - shownRefs} more.</p>`}
<p>Nobody is asked twice: a journey that can not have it any more is left as it is.</p>
${actingForm({
  at: `/many/${action}`,
  csrf,
  content: [Object.entries(fields).map(([name, value]) => hidden(name, value)), reason],
  button: `${manyTitles[action]} ${Math.min(refs.length, mostAtOnce)} journeys`,
  back: listAt(queryOf(fields)),
})}`;
}
