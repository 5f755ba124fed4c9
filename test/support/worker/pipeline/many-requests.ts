import { z } from 'zod';
import type { FeedbackStandin } from '../../../../standins/feedback/standin.ts';
import { step } from '../../../../worker/journey/transitions.ts';
import type { SourceContext } from '../../../../worker/pipeline/source-pipeline.ts';

const campaign = 112;

interface Unit {
  context: Pick<SourceContext, 'name' | 'store' | 'feedback'>;
  /** The service that `context` asks, with its account `acme`. */
  standin: FeedbackStandin;
  /** One pass over a campaign. */
  collect(campaign: number): Promise<unknown>;
}

/**
 * What a campaign of many requests costs to collect from, of which a few journeys wait for answers: calls of a pass over the whole
 * export, and of one that finds a single new grade.
 * @param options `open`: so many of the newest requests have a journey that waits
 */
export async function collectingCost(unit: Unit, options: { requests: number; open: number }) {
  const { standin, context } = unit;
  standin.addCampaign({ account: 'acme', id: campaign, name: 'Many', type: 'mixed' });
  standin.fill({ campaign, count: options.requests, graded: 0, days: 0 });
  const open = await newest(options.open, context, options.requests);
  for (const request of open) await asked(request, context);
  const callsOf = async (): Promise<number> => {
    standin.clearCalls();
    await unit.collect(campaign);
    return Object.values(standin.calls()).reduce((sum, n) => sum + n, 0);
  };
  const whole = await callsOf();
  const answered = open[Math.floor(open.length / 2)];
  if (answered === undefined) throw new Error('no request is open');
  standin.answer({ request: Number(answered.id), grade: 4 });
  const changed = await callsOf();
  const journey = await context.store.get(`${answered.id}.1`);
  return { whole, changed, grade: journey?.answer?.grade, unchanged: await callsOf() };
}

type Open = { id: string; email: string; scheduled: Date };

async function newest(count: number, { feedback }: Unit['context'], requests: number): Promise<Open[]> {
  const found: Open[] = [];
  const page = Math.max(1, Math.floor((requests - count) / 1_000));
  for await (const { results } of feedback.requestPages({ campaign, page })) {
    for (const { id, email, scheduled } of results) found.push(Open.parse({ id, email, scheduled }));
  }
  return found.slice(-count);
}
const Open = z.object({ id: z.string(), email: z.string(), scheduled: z.date() });

/** The journey of a request that was made for it. */
export async function asked({ id, email, scheduled }: Open, { store }: Unit['context']): Promise<void> {
  const closing = { recordId: id, closing: 'c', closedAt: scheduled, eventKey: id, receivedAt: scheduled };
  const { journey } = await store.getOrCreate(closing, []);
  const contact = { kind: 'email', value: email } as const;
  await store.update(journey.id, (now) => {
    const waiting = step(now, 'waiting', scheduled, { campaign, contact });
    return { journey: step(waiting, 'asked', scheduled, { requestId: id, askedAt: scheduled }), trace: [] };
  });
}
