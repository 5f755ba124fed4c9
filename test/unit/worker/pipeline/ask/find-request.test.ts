import { expect, test } from 'vitest';
import { createFeedbackClient, type FeedbackClient } from '../../../../../core/feedback/client.ts';
import { FeedbackError } from '../../../../../core/feedback/failure.ts';
import type { FeedbackRequest } from '../../../../../core/feedback/request-form.ts';
import type { ContactRecord } from '../../../../../core/feedback/schemas.ts';
import { FeedbackSettings } from '../../../../../core/feedback/settings.ts';
import { livePorts } from '../../../../../worker/cli/live-ports.ts';
import type { Journey } from '../../../../../worker/journey/journey.ts';
import { findRequest } from '../../../../../worker/pipeline/ask/find-request.ts';
import { SharedExports } from '../../../../../worker/pipeline/shared-exports.ts';
import { neverAsked } from '../../../../support/core/feedback/samples.ts';

const exports = new SharedExports((read) => read(), { isByContact: false });

const at = (time: string) => new Date(`2026-11-21T${time}Z`);
const contact = { kind: 'email', value: 'erika@example.com' } as const;
const marker = { field: 'closeloop', value: 'desk/1.1' };
/** The record was closed at 10:00, and its customer was to be asked at 12:00; they had been asked once before. */
const closedAt = at('10:00:00');
const before = { num_appeals: 1, last_appeal: at('09:00:00') };
const intent = {
  token: 't',
  at: at('12:00:00'),
  campaign: 12,
  numAppeals: before.num_appeals,
  lastAppeal: before.last_appeal,
  searchAfter: at('12:00:30'),
};

const request = (id: string, more: Partial<FeedbackRequest> = {}): FeedbackRequest => ({
  id,
  campaign: 12,
  phone: null,
  email: contact.value,
  identifier: null,
  scheduled: at('12:00:01'),
  status: 'Sent',
  grade: null,
  comment: null,
  customFields: {},
  ...more,
});
const marked = (more: Partial<FeedbackRequest> = {}) =>
  request('ours', { customFields: { closeloop: marker.value }, ...more });

const nobody = { ...neverAsked, contact: contact.value };
const settings = { baseUrl: 'http://127.0.0.1:9/api', apiKey: 'key', timeZone: 'Europe/Tallinn' };
const service = createFeedbackClient(FeedbackSettings.parse(settings), livePorts);

/** What the service shows: a page of the campaign's export, and the contact's counters. */
interface Shown {
  export: FeedbackRequest[];
  unreadable?: number;
  /** The record was closed at 12:10. */
  ahead?: boolean;
  counters?: Pick<ContactRecord, 'num_appeals' | 'last_appeal'> | undefined;
}
function serviceOf({ export: results, unreadable = 0, counters = before }: Shown): FeedbackClient {
  const strange = () => new FeedbackError('a record of another shape', { kind: 'permanent' });
  return {
    ...service,
    async *requestPages() {
      yield { count: results.length, results, unreadable: Array.from({ length: unreadable }, strange) };
    },
    contact: async () => ({ ...nobody, ...counters }),
  };
}

const ours = { is: 'created', requestId: 'ours' };
const absent = { is: 'absent' };
const unclear = { is: 'unclear' };
const notYet = { is: 'not yet clear' };
const moved = { num_appeals: 2, last_appeal: at('12:00:01') };

const withMarker: [what: string, shown: Shown, found: object][] = [
  ['has it', { export: [request('other'), marked()], counters: moved }, ours],
  ["has another journey's", { export: [request('other', { customFields: { closeloop: 'desk/1.2' } })] }, absent],
  [
    'has it from before the closing, which by the clock of the vendor lies ahead',
    { export: [marked({ scheduled: at('11:59:30') })], ahead: true },
    ours,
  ],
  [
    'has it from before the closing, when another journey bore the number',
    { export: [marked({ scheduled: at('08:00:00') })] },
    absent,
  ],
  ['holds one that cannot be read', { export: [], unreadable: 1 }, unclear],
  ['has nothing', { export: [] }, absent],
  ['has nothing, though the contact was asked since', { export: [], counters: moved }, notYet],
];
test.each(withMarker)('with the marker, an export that %s', async (_, shown, found) => {
  const journey = { closedAt: shown.ahead ? at('12:10:00') : closedAt };
  const sought = { journey, contact, intent: { ...intent, marker }, others: async () => [] };
  const context = { exports, feedback: serviceOf(shown), areOwned: async () => [] };
  expect(await findRequest(sought, context)).toMatchObject(found);
});

const withoutMarker: [what: string, shown: Shown, found: object][] = [
  ['has one to the contact', { export: [request('ours')], counters: moved }, ours],
  [
    'has one to the contact, by a clock that is a minute behind',
    { export: [request('ours', { scheduled: at('11:59:00') })] },
    ours,
  ],
  ['has nothing new', { export: [] }, absent],
  ['has one to somebody else', { export: [request('other', { email: 'otto@example.com' })] }, absent],
  ['has one from before the attempt', { export: [request('other', { scheduled: at('11:00:00') })] }, absent],
  ["has another journey's", { export: [request('owned')] }, absent],
  ["has another journey's, and one to the contact", { export: [request('owned'), request('ours')] }, ours],
  ['has two to the contact', { export: [request('ours'), request('other')], counters: moved }, unclear],
  ['holds one that cannot be read', { export: [request('ours')], unreadable: 1 }, unclear],
  [
    'has nothing, though the contact was asked more often',
    { export: [], counters: { ...before, num_appeals: 2 } },
    notYet,
  ],
  [
    'has nothing, though the contact was asked later',
    { export: [], counters: { ...before, last_appeal: at('12:00:01') } },
    notYet,
  ],
];
test.each(withoutMarker)('without the marker, an export that %s', async (_, shown, found) => {
  const context = {
    exports,
    feedback: serviceOf(shown),
    areOwned: async (ids: readonly string[]) => ids.map((id) => id === 'owned'),
  };
  const sought = { journey: { closedAt }, contact, intent, others: async () => [] };
  expect(await findRequest(sought, context)).toMatchObject(found);
});

/** Another journey about the contact. */
const other = (more: Partial<Journey>): Journey => ({
  id: '2.1',
  source: 'desk',
  recordId: '2',
  state: 'asked',
  receivedAt: closedAt,
  updatedAt: closedAt,
  closing: 'one',
  closedAt,
  ...more,
});
const asked = (time: string, more: Partial<Journey> = {}) => other({ requestId: '9', askedAt: at(time), ...more });
const counters = (num_appeals: number, time: string) => ({ num_appeals, last_appeal: at(time) });

const explained: [what: string, others: Journey[], counters: Shown['counters'], found: object][] = [
  ['by a request of another journey', [asked('12:05:00')], counters(2, '12:05:00'), absent],
  ['by one that was taken back', [asked('12:05:00', { state: 'cancelled' })], counters(2, '12:05:00'), absent],
  ['by two', [asked('12:05:00'), asked('12:06:00')], counters(3, '12:06:00'), absent],
  ['by none that is counted yet', [asked('12:05:00')], before, absent],
  ['not by one, as two were made', [asked('12:05:00')], counters(3, '12:05:00'), notYet],
  ['not by one from before the attempt', [asked('11:55:00')], counters(2, '12:00:00'), notYet],
  ['not by one that asks still', [other({ state: 'creating' })], counters(2, '12:05:00'), notYet],
  [
    'not by one that was taken back, as the last was made when this one was',
    [asked('12:05:00', { state: 'cancelled' })],
    moved,
    notYet,
  ],
  ['not where fewer are left', [asked('12:05:00')], counters(0, '12:05:00'), notYet],
];
test.each(explained)(
  'the counters of a contact that were moved are explained: %s',
  async (_, others, counted, found) => {
    for (const one of [intent, { ...intent, marker }]) {
      const sought = { journey: { closedAt }, contact, intent: one, others: async () => others };
      const context = { exports, feedback: serviceOf({ export: [], counters: counted }), areOwned: async () => [] };
      expect(await findRequest(sought, context)).toMatchObject(found);
    }
  },
);

test('the counters of a contact that were moved are not explained by a request they counted already, by a clock that is ahead', async () => {
  const lastAppeal = at('12:05:00');
  const others = async () => [asked('12:05:00')];
  const context = {
    exports,
    feedback: serviceOf({ export: [], counters: { num_appeals: 2, last_appeal: lastAppeal } }),
    areOwned: async () => [],
  };
  const sought = { journey: { closedAt }, contact, intent: { ...intent, lastAppeal }, others };
  expect(await findRequest(sought, context)).toMatchObject(notYet);
});

const valued = (id: string, Store: unknown) => request(id, { customFields: { Store } });
const taken: [what: string, shown: FeedbackRequest[], isSuspicion: boolean, found: object][] = [
  ['its own value', [valued('ours', 'Tallinn')], false, ours],
  ['its own value in another form', [valued('ours', ' TALLINN')], false, ours],
  ['no such value', [valued('ours', undefined)], false, ours],
  ['its own value, and one shows another', [valued('other', 'Riga'), valued('ours', 'Tallinn')], false, ours],
  ['another value', [valued('other', 'Riga')], false, notYet],
  ['its own value, and so does one more', [valued('ours', 'Tallinn'), valued('other', 'Tallinn')], false, unclear],
  ['its own value, though nothing is known to have been sent', [valued('ours', 'Tallinn')], true, ours],
  ['another value, where nothing is known to have been sent', [valued('other', 'Riga')], true, absent],
  ['no such value, where nothing is known to have been sent', [valued('other', undefined)], true, unclear],
];
test.each(taken)(
  'without the marker, a request to the contact is taken, or not: it shows %s (audit 10)',
  async (_, results, isSuspicion, found) => {
    const journey = { closedAt, values: { Store: 'Tallinn' } };
    const sought = {
      journey,
      contact,
      intent: { ...intent, isSuspicion, lastAppeal: moved.last_appeal, numAppeals: 2 },
    };
    const context = { exports, feedback: serviceOf({ export: results, counters: moved }), areOwned: async () => [] };
    expect(await findRequest({ ...sought, others: async () => [] }, context)).toMatchObject(found);
  },
);
