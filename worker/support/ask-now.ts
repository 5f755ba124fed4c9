import { refusal } from '../../core/errors.ts';
import type { Journey } from '../journey/journey.ts';
import { refOf } from '../journey/refs.ts';
import { ifStill } from '../journey/transitions.ts';
import { laterClosing } from '../pipeline/ask/later-closing.ts';
import { plannedAt } from '../pipeline/policy/decide.ts';
import type { Queues } from '../pipeline/queues.ts';
import { inCampaign } from '../pipeline/rules.ts';
import { forecastOf, type PreviewContext, readRecord } from './preview.ts';

/**
 * Has a waiting journey's customer asked as soon as it may be, ahead of the planned time. The delay and the rule's window are left
 * out; the campaign's hours, those of text messages, holidays, caps, throttles, the service's lists and `never` hold. Nothing is changed
 * where one of them is against it now: the journey keeps its plan.
 * @returns when it is to be asked
 * @throws CloseloopError config with what is against it
 */
export async function askNow(journey: Journey, context: PreviewContext & Pick<Queues, 'queueAskAhead'>): Promise<Date> {
  const { name, store, clock } = context;
  const ref = refOf(name, journey.id);
  if (journey.state !== 'waiting') throw refusal(`${ref} is ${journey.state}, and does not wait to be asked.`);
  const dueAt = await earliest(journey, context);
  const after = await store.update(
    journey.id,
    ifStill('waiting', {
      to: 'waiting',
      at: clock.now(),
      change: { hurried: true, dueAt },
      trace: ['a person wants it asked ahead of its time', plannedAt(dueAt)],
      when: ({ hurried }) => !hurried,
    }),
  );
  if (after?.state !== 'waiting') throw refusal(`Nothing was changed: ${ref} is ${after?.state ?? 'gone'} since.`);
  // Queued also if the journey was hurried before: the process may have ended before it queued the job.
  await context.queueAskAhead(journey, dueAt);
  return dueAt;
}

/** @throws CloseloopError config if the customer can't be asked sooner than planned */
async function earliest(journey: Journey, context: PreviewContext): Promise<Date> {
  const status = await readRecord(journey.recordId, context);
  if (status.is === 'out') throw refusal(`Nobody is asked about its record: ${status.why}.`);
  if (status.is === 'open') throw refusal('Its record is open: nobody is asked about that now.');
  const { record, closing } = status;
  const { id } = await context.store.records.nameOf(record.currentId, closing);
  if (id !== journey.id)
    throw refusal('Its record was merged, or closed again since: that closing has a journey of its own.');
  const { decision, why, rule, request, trace } = await forecastOf(record, id, { ...journey, hurried: true }, context);
  if (decision === 'skip' || rule === undefined || request === undefined)
    throw refusal(`Nobody would be asked now: ${why}.`);
  const { campaign, dueAt } = request;
  const { contact = request.contact } = journey;
  const later = await laterClosing({ ...journey, contact }, inCampaign(rule, campaign.id), campaign, context);
  if (later) throw refusal(`It can't be asked ahead of its time: it ${later.why}.`);
  const isSooner = dueAt <= context.clock.now() || journey.dueAt === undefined || dueAt < journey.dueAt;
  if (!isSooner && !journey.hurried) throw refusal(`It can't be asked sooner than planned: ${trace.join('; ')}.`);
  return dueAt;
}
