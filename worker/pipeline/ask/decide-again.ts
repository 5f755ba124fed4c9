import { isDeepStrictEqual } from 'node:util';
import { contactKey } from '../../../core/contact.ts';
import type { Journey } from '../../journey/journey.ts';
import { markOf } from '../../journey/refs.ts';
import { ifStill } from '../../journey/transitions.ts';
import { type AskDecision, decideAbout, linkPerson, noteWaiting, plannedBy, skippedBy } from '../decision.ts';
import { done, type JobResult } from '../jobs.ts';
import type { Ask } from '../policy/decide.ts';
import type { CampaignRule } from '../rules.ts';
import type { ClosedReading } from '../vendor.ts';
import type { AskContext } from './ask-steps.ts';
import { endJourney, postpone } from './not-asked.ts';

/** The result of deciding again: closeloop asks the customer now, or the job is done, or the job waits. */
export type Again = { do: 'ask'; journey: Journey; decision: AskDecision } | { do: 'end'; result: JobResult };

/**
 * Decides about a waiting journey again, now that its customer is due, by the present record and configuration. Whatever has
 * changed since the first decision is stored with the journey, and its trace says so.
 */
export async function decideAgain(
  journey: Journey,
  reading: ClosedReading,
  pass: (rule: CampaignRule) => Promise<void>,
  context: AskContext,
): Promise<Again> {
  const { store, clock } = context;
  const { record } = reading;
  const history = await store.records.historyOf(journey.recordId);
  const verdict = await decideAbout(journey, record, { history, pass }, context);
  if (verdict.do === 'skip') {
    const change = skippedAgain(journey, skippedBy(verdict, record, context));
    const trace = ['decided again, as it is due', ...verdict.trace];
    return { do: 'end', result: await endJourney(journey, verdict, context, { trace, change }) };
  }
  const { saved: after, end } = await saveChanges(journey, verdict, reading, context);
  if (after === undefined) return { do: 'end', result: end };
  if (verdict.dueAt > clock.now()) {
    await context.caps.giveBack(markOf(after));
    const due = { at: verdict.dueAt, why: verdict.timing };
    return { do: 'end', result: await postpone(after, due, context) };
  }
  return { do: 'ask', journey: after, decision: { verdict, reading, isFenced: false } };
}

/**
 * A skipped journey loses the data that planning stored in it. The record may have another customer by now, or none: an erasure of the earlier
 * customer would no longer find the journey, and their address would stay.
 */
const unplanned: Partial<Journey> = {
  rule: undefined,
  campaign: undefined,
  campaignName: undefined,
  maxGrade: undefined,
  contact: undefined,
  values: undefined,
  place: undefined,
  locale: undefined,
};

/**
 * The change of a journey that is skipped. A journey that holds more about its customer (a search for their request, a grade that they gave
 * elsewhere) also keeps the contact and the person's id, by which an erasure finds the journey.
 */
function skippedAgain({ searched, given }: Journey, skipped: ReturnType<typeof skippedBy>): Partial<Journey> {
  if (searched === undefined && given === undefined) return { ...unplanned, ...skipped };
  const { personId: _, alsoKnownAs: _1, ...rest } = skipped;
  return rest;
}

type Saved = { saved: Journey; end?: never } | { saved?: never; end: JobResult };

/**
 * Stores what the new decision changes. `end`: nothing was stored, as another worker or a person has changed the journey, or the customer was
 * erased. A journey that still waits is decided once more.
 */
async function saveChanges(
  journey: Journey,
  verdict: Ask,
  { record }: ClosedReading,
  context: AskContext,
): Promise<Saved> {
  const { dueAt: _, ...planned } = plannedBy(verdict, record, context);
  const news = differences(journey, planned, verdict);
  if (news.length === 0) return { saved: journey };
  const isOtherContact = journey.contact === undefined || contactKey(journey.contact) !== contactKey(verdict.contact);
  const isOtherRule = journey.rule !== planned.rule || journey.campaign !== planned.campaign;
  await linkPerson(planned, context);
  if (isOtherContact || isOtherRule) await noteWaiting(journey, verdict, context);
  const after = await context.store.update(
    journey,
    ifStill('waiting', {
      to: 'waiting',
      at: context.clock.now(),
      change: planned,
      trace: [`decided again, as it is due: ${news.join('; ')}`],
      // A search for another contact's request says nothing about this contact.
      ...(isOtherContact && { without: ['searched'] }),
      when: ({ dueAt, hurried }) => hurried === journey.hurried && dueAt?.getTime() === journey.dueAt?.getTime(),
    }),
  );
  if (after?.state !== 'waiting') return { end: done };
  if (differences(after, planned, verdict).length > 0) return { end: { do: 'wait', delayMs: 0 } };
  // The journey's slots are under the caps of its earlier rule.
  if (isOtherRule) await context.caps.giveBack(markOf(journey));
  if (isOtherContact && journey.contact)
    await context.contacts.waits.settle(contactKey(journey.contact), [markOf(journey)]);
  return { saved: after };
}

type Planned = Omit<ReturnType<typeof plannedBy>, 'dueAt'>;

/** The changes that the new decision makes, in words, without personal data. */
function differences(before: Journey, planned: Planned, { rule, contactFrom, contact, values }: Ask): string[] {
  const news: string[] = [];
  if (before.rule !== planned.rule) news.push(`rule "${rule.name}" in place of "${before.rule}"`);
  if (before.campaign !== planned.campaign) news.push(`campaign ${planned.campaign} in place of ${before.campaign}`);
  if (before.contact?.kind !== contact.kind || before.contact.value !== contact.value)
    news.push(`contact ${contactFrom} is now another ${contact.kind}`);
  const old = before.values ?? {};
  for (const name of new Set([...Object.keys(old), ...Object.keys(values)])) {
    if (old[name] === values[name]) continue;
    const how = values[name] === undefined ? 'is left out' : 'has another value';
    news.push(`custom field "${name}" ${how}`);
  }
  const isOther = before.campaign !== planned.campaign;
  for (const [field, what] of isOther ? others : [...ofCampaign, ...others]) {
    if (!isDeepStrictEqual(stored(before[field]), stored(planned[field]))) news.push(what);
  }
  return news;
}

/** A further field that a decision sets, with its name for the trace. */
type Words = readonly [field: keyof Planned & keyof Journey, what: string];

const ofCampaign: readonly Words[] = [
  ['campaignName', 'the campaign has another name'],
  ['maxGrade', 'the campaign has another highest grade'],
];
const others: readonly Words[] = [
  ['locale', "the customer's language is another"],
  ['place', 'the customer is elsewhere'],
  ['personId', 'the customer is another person at the vendor'],
  ['alsoKnownAs', 'the customer has other further addresses'],
];

/** The value as JSON keeps it: without fields that are undefined. */
function stored(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
