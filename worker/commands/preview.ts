import { styleText } from 'node:util';
import { contactKey } from '../../core/contact.ts';
import { CloseloopError } from '../../core/errors.ts';
import { lookAt, refOf } from '../context.ts';
import { decide } from '../stages/decide.ts';
import { whyNotNow } from '../stages/why-not-now.ts';
import type { RuntimeOptions } from './runtime.ts';
import { withSources } from './with-engine.ts';

/** What would be sent about a record: to whom, when, with which values and why; or why not. Sends and stores nothing. */
export async function preview(
  options: RuntimeOptions & { source: string; record: string; showRecord: boolean; json: boolean },
): Promise<number> {
  return await withSources(options, async ({ lane }) => {
    const { context } = lane(options.source);
    const [result] = await context.source.read([options.record], 'plan');
    if (!result) throw new Error('the connector gave no result');
    const look = lookAt(result);
    const print = (shown: object, lines: readonly string[]): number => {
      process.stdout.write(options.json ? `${JSON.stringify(shown)}\n` : `${lines.join('\n')}\n`);
      return 0;
    };
    const shape = options.showRecord && result.ok ? result.record.shape : undefined;
    const end = shape === undefined || options.json ? [] : ['', 'record', JSON.stringify(shape, null, 2)];
    if (look.is !== 'closed') {
      const why = look.is === 'out' ? look.why : 'it is not closed';
      return print({ decision: 'skip', why, record: shape }, [heading('would not ask', why), ...end]);
    }

    const { record, closing, closedAt } = look;
    const { id, exists } = await context.store.nameOf(record.currentId, closing);
    const verdict = await decide({ recordId: record.currentId, journeyId: id, closedAt }, record, context);
    const journey = exists ? await context.store.get(id) : undefined;
    const about = { journey: refOf(context.name, id), exists, state: journey?.state, closedAt, closing, record: shape };
    const begun = [
      row('closed', `${closedAt.toISOString()} (closing ${closing})`),
      row(
        'journey',
        journey ? `${about.journey}, ${journey.state}${journey.why ? `: ${journey.why}` : ''}` : 'none yet',
      ),
    ];
    if (verdict.do === 'skip') {
      const { why, trace, rule } = verdict;
      return print({ ...about, decision: 'skip', why, rule: rule?.name, trace }, [
        heading('would not ask', why),
        ...begun,
        ...trace.map((line) => row('', line)),
        ...end,
      ]);
    }
    const { rule, campaign, contact, values, sources, dueAt, trace } = verdict;
    const known = await context.feedback.contact(contact);
    const last = await context.contacts.lastAsked(contactKey(contact));
    const notNow = whyNotNow(known, last, rule, dueAt);
    const decision = notNow === undefined ? 'ask' : 'skip';
    const shown = {
      ...about,
      decision,
      why: notNow,
      rule: rule.name,
      campaign: campaign.id,
      contact,
      values,
      sources,
      dueAt,
    };
    return print({ ...shown, trace }, [
      notNow === undefined ? heading('would ask') : heading('would not ask', notNow),
      ...begun,
      row('rule', rule.name),
      row('campaign', `${campaign.id} ${campaign.name} (${campaign.type})`),
      row('contact', `${contact.kind} ${contact.value}`),
      ...Object.entries(values).map(([name, value], i) =>
        row(i === 0 ? 'fields' : '', `${name} = ${JSON.stringify(value)}  ← ${sources[name] ?? 'closeloop'}`),
      ),
      row(
        'send',
        `${dueAt.toLocaleString('sv-SE', { timeZone: context.timeZone })} ${context.timeZone} (${dueAt.toISOString()})`,
      ),
      ...trace.map((line, i) => row(i === 0 ? 'because' : '', line)),
      ...end,
    ]);
  });
}

const heading = (decision: string, why?: string): string =>
  styleText('bold', `${decision}${why === undefined ? '' : `: ${why}`}`);
const row = (name: string, text: string): string => `${name.padEnd(9)} ${text}`;

/** A day (from its midnight in UTC) or an instant, as people write them. @throws CloseloopError config */
export function instant(text: string, option: string): Date {
  const at = new Date(text);
  const day = /^\d{4}-\d{2}-\d{2}(?=T|$)/.exec(text)?.[0];
  // JavaScript takes February 31st for March 3rd.
  const exists = day !== undefined && !Number.isNaN(at.getTime()) && new Date(day).toISOString().startsWith(day);
  if (exists) return at;
  throw new CloseloopError(`${option} must be a day like 2026-11-01, or an instant like 2026-11-01T08:00:00Z.`, {
    kind: 'config',
  });
}
