import { expect } from 'vitest';
import type { FeedbackStandin } from '../../../standins/feedback/standin.ts';
import { step } from '../../../worker/journey/transitions.ts';
import { ask } from '../../../worker/pipeline/ask/ask.ts';
import type { AskedToErase } from '../../../worker/pipeline/jobs.ts';
import { plan } from '../../../worker/pipeline/plan/plan.ts';
import type { SourceContext } from '../../../worker/pipeline/source-pipeline.ts';
import { eventOf, type UnitContext } from '../manual.ts';

export const email = 'erika@example.com';
export const ago = (ms: number) => new Date(Date.now() - ms);

type Who = { contacts?: string[]; personIds?: string[]; recordIds?: string[]; everybody?: true };
/** The person `p-7` of the record `x`, by that address. */
export const waysToErase: [by: string, who: Who][] = [
  ['the contact', { contacts: ['Erika@Example.com'] }],
  ['the id of the person', { personIds: ['p-7'] }],
  ['the record', { recordIds: ['x'] }],
  ['everybody', { everybody: true }],
];

let keys = 0;
/** A request to forget these, another one each time. */
export function eraseOf(who: Partial<AskedToErase>): AskedToErase {
  const at = new Date();
  const nobody = { personIds: [], recordIds: [], contacts: [], everybody: false };
  return { kind: 'erase', at, key: `erase ${++keys}`, what: 'toy erase', receivedAt: at, ...nobody, ...who };
}

/** The customer of this record was asked. */
export async function asked(
  { context, vendor }: Pick<UnitContext, 'context' | 'vendor'>,
  id: string,
  customer: object,
  more: object = {},
): Promise<void> {
  vendor.close(id, { customer, ...more });
  await plan(eventOf(id, { receivedAt: ago(1_000) }), context);
  await ask({ journeyId: `${id}.1` }, context);
  expect(await context.store.get(`${id}.1`)).toMatchObject({ state: 'asked' });
}

/** … and has answered. */
export async function answered({ store }: Pick<SourceContext, 'store'>, id: string): Promise<void> {
  const answer = { grade: 3, comment: 'too slow', seenAt: new Date(), version: 1 };
  await store.update(id, (now) => ({ journey: step(now, 'answered', new Date(), { answer }), trace: [] }));
}

/** Whom the service's requests are to, in the order in which they were made. */
export const sentTo = (standin: FeedbackStandin) =>
  standin.requests().map((one) => one.phone ?? one.email ?? one.identifier);

export const isErased = async ({ store }: Pick<SourceContext, 'store'>, id: string): Promise<boolean> =>
  (await store.get(id))?.erasedAt !== undefined;
