import type { ConnectorPorts, Source, WriteBack, WriteResult } from '../../core/connector.ts';
import { CloseloopError } from '../../core/errors.ts';
import {
  type Change,
  changeFor,
  configError,
  findingsOn,
  mayHaveNote,
  misfit,
  type Wanted,
  wantedOf,
} from './answer.ts';
import type { ZendeskApi } from './client.ts';
import { errorName } from './failure.ts';
import type { Catalogue } from './fields.ts';
import { JobAnswer, type JobResult, jobWatch, resultsOf } from './jobs.ts';
import { hasNote, noteText } from './note.ts';
import { updatesLane } from './quota.ts';
import type { ZendeskSettings } from './settings.ts';
import { batchSize, isTicketId, showMany, type Ticket, type TicketResult } from './ticket.ts';

/** What is to be done about one item once its ticket is known. */
type Plan =
  | { do: 'nothing'; result: WriteResult }
  | { do: 'send'; ticket: Ticket; wanted: Wanted; change: Change; withNote: boolean };

/**
 * Puts answers on tickets: four calls for a hundred (read, update, look at the job, read again).
 *
 * Every attempt may be repeated. Fields and tags can be set twice; a note can't, so
 * - the first read tells whether an earlier attempt arrived, and only then (`mayHaveNote`) the note is looked for;
 * - an update with a note names the state it was read in (`updated_stamp`), so that a job that was still in Zendesk's
 *   queue when we gave it up, or died, makes the second one a conflict instead of a second note.
 */
export function writer(
  settings: ZendeskSettings,
  api: ZendeskApi,
  catalogue: (fresh?: boolean) => Promise<Catalogue>,
  ports: Pick<ConnectorPorts, 'sleep'>,
): Source['writeBack'] {
  const { subdomain, writeBack } = settings;
  const finished = jobWatch(api, ports.sleep);

  async function fittingCatalogue(): Promise<Catalogue> {
    const held = await catalogue();
    if (misfit(writeBack, held) === undefined) return held;
    // It may have been corrected since we last looked.
    const fresh = await catalogue(true);
    const why = misfit(writeBack, fresh);
    if (why !== undefined) throw configError(subdomain, why);
    return fresh;
  }

  async function planFor(item: WriteBack, read: TicketResult | undefined, fields: Catalogue): Promise<Plan> {
    const settled = (result: WriteResult): Plan => ({ do: 'nothing', result });
    if (read === undefined) return settled(notFound(item));
    if (!read.ok) return settled({ ok: false, why: 'error', error: read.error });
    const { ticket } = read;
    if (ticket.status === 'deleted') return settled(notFound(item));

    const wanted = wantedOf(item, writeBack, fields);
    const change = changeFor(wanted, ticket);
    let withNote = writeBack.note;
    if (withNote && mayHaveNote(wanted, ticket, item.answeredAt)) {
      try {
        withNote = !(await hasNote(api, ticket.id, item.marker));
      } catch (error) {
        // Nothing is wrong with the other tickets: this one was deleted, say, since we read it.
        if (!(error instanceof CloseloopError) || error.advice.kind !== 'permanent') throw error;
        return settled({ ok: false, why: 'error', error });
      }
    }
    const isDone = !withNote && change.fields.length + change.addTags.length + change.removeTags.length === 0;
    if (isDone) return settled({ ok: true, findings: [] });
    if (ticket.status === 'closed') return settled(closed(item));
    return { do: 'send', ticket, wanted, change, withNote };
  }

  function bodyOf(item: WriteBack, { ticket, change, withNote }: Extract<Plan, { do: 'send' }>): object {
    return {
      id: Number(ticket.id),
      ...(change.fields.length === 0
        ? {}
        : { custom_fields: change.fields.map(({ id, value }) => ({ id: Number(id), value })) }),
      ...(change.addTags.length === 0 ? {} : { additional_tags: change.addTags }),
      ...(change.removeTags.length === 0 ? {} : { remove_tags: change.removeTags }),
      ...(withNote
        ? { comment: { body: noteText(item), public: false }, safe_update: true, updated_stamp: ticket.updated_at }
        : {}),
    };
  }

  async function writeBatch(items: readonly WriteBack[]): Promise<WriteResult[]> {
    const ids = items.map(({ recordId }) => recordId).filter(isTicketId);
    if (ids.length === 0) return items.map(notFound);
    const fields = await fittingCatalogue();
    const before = (await showMany(api, ids)).tickets;
    const planned: { item: WriteBack; plan: Plan }[] = [];
    for (const item of items) planned.push({ item, plan: await planFor(item, before.get(item.recordId), fields) });

    const sent = planned.flatMap(({ item, plan }) => (plan.do === 'send' ? [{ item, plan }] : []));
    if (sent.length === 0) return planned.flatMap(({ plan }) => (plan.do === 'nothing' ? [plan.result] : []));
    const body = { tickets: sent.map(({ item, plan }) => bodyOf(item, plan)) };
    const { job_status } = await api.put('/api/v2/tickets/update_many.json', body, JobAnswer, updatesLane);
    const outcomes = resultsOf(await finished(job_status));

    const sentIds = sent.map(({ item }) => item.recordId);
    const after = (await showMany(api, sentIds)).tickets;
    return planned.map(({ item, plan }) =>
      plan.do === 'nothing'
        ? plan.result
        : judge(item, plan.wanted, outcomes.get(item.recordId), after.get(item.recordId)),
    );
  }

  return async (items) => {
    const results = new Map<WriteBack, WriteResult>();
    for (const batch of batchesOf(items)) {
      const written = await writeBatch(batch);
      batch.forEach((item, index) => {
        const result = written[index];
        if (result !== undefined) results.set(item, result);
      });
    }
    return items.map((item) => results.get(item) ?? notFound(item));
  };
}

/**
 * At most 100 a batch, and no ticket twice in one: Zendesk would work on both at once. The first batch with room takes an
 * item, so a later answer to the same ticket always ends up in a later batch.
 */
export function batchesOf(items: readonly WriteBack[]): WriteBack[][] {
  const batches: WriteBack[][] = [];
  for (const item of items) {
    const open = batches.find(
      (batch) => batch.length < batchSize && !batch.some(({ recordId }) => recordId === item.recordId),
    );
    if (open === undefined) batches.push([item]);
    else open.push(item);
  }
  return batches;
}

/** What became of one ticket: by the job's word, and by what the ticket looks like now. */
function judge(
  item: WriteBack,
  wanted: Wanted,
  result: JobResult | undefined,
  now: TicketResult | undefined,
): WriteResult {
  const failed = (message: string, transient: boolean, outcome: 'refused' | 'unknown' = 'refused'): WriteResult => {
    const advice = transient ? ({ kind: 'transient' } as const) : ({ kind: 'permanent' } as const);
    return {
      ok: false,
      why: 'error',
      error: new CloseloopError(`Zendesk ticket ${item.recordId}: ${message}`, advice, { outcome }),
    };
  };
  if (result === undefined) {
    return failed('the job ended without a word on it; it is read before the next attempt.', true, 'unknown');
  }
  if (now === undefined) return notFound(item);
  if (!now.ok) return { ok: false, why: 'error', error: now.error };
  if (result.success) return { ok: true, findings: findingsOn(wanted, now.ticket) };
  if (now.ticket.status === 'closed') return closed(item);
  const name = errorName(result) ?? 'refused';
  if (/conflict/i.test(name)) return failed(`${name}: somebody changed it at the same time; it is tried again.`, true);
  return failed(
    `${name}. If a field that is required to solve is empty on it, an agent must fill that in; else check that the ` +
      'integration user may edit this ticket and that triggers and field rules allow the values.',
    false,
  );
}

function notFound({ recordId }: WriteBack): WriteResult {
  return { ok: false, why: 'not-found', message: `Zendesk ticket ${recordId} does not exist any more.` };
}

function closed({ recordId }: WriteBack): WriteResult {
  const message = `Zendesk ticket ${recordId} is closed and can't be changed; a longer time before closing (automation "Close ticket") leaves room for late answers.`;
  return { ok: false, why: 'closed', message };
}
