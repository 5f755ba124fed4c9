import { expect, test } from 'vitest';
import { createFeedbackClient, type FeedbackClient, type FeedbackRequest } from '../../../core/feedback/client.ts';
import { FeedbackError } from '../../../core/feedback/failure.ts';
import type { ContactRecord } from '../../../core/feedback/schemas.ts';
import { FeedbackSettings } from '../../../core/feedback/settings.ts';
import { livePorts } from '../../../worker/commands/engine-of.ts';
import { lookForRequest } from '../../../worker/stages/look-for-request.ts';

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
  lookAfter: at('12:00:30'),
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

const nobody: ContactRecord = {
  contact: contact.value,
  num_appeals: 0,
  num_feedback: 0,
  avg_grade: [],
  index_csat: null,
  index_nps: null,
  last_appeal: null,
  last_grade: null,
  last_comment: null,
  last_survey: null,
  blacklist: null,
  graylist: null,
};
const settings = { baseUrl: 'http://127.0.0.1:9/api', apiKey: 'key', timeZone: 'Europe/Tallinn' };
const service = createFeedbackClient(FeedbackSettings.parse(settings), livePorts);

/** What the service shows: a page of the campaign's export, and the contact's counters. */
interface Shown {
  export: FeedbackRequest[];
  unreadable?: number;
  counters?: Pick<ContactRecord, 'num_appeals' | 'last_appeal'>;
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
const moved = { num_appeals: 2, last_appeal: at('12:00:01') };

const withMarker: [what: string, shown: Shown, found: object][] = [
  ['has it', { export: [request('other'), marked()], counters: moved }, ours],
  ["has another journey's", { export: [request('other', { customFields: { closeloop: 'desk/1.2' } })] }, absent],
  [
    'has it from before the closing, when another journey bore the number',
    { export: [marked({ scheduled: at('08:00:00') })] },
    absent,
  ],
  ['holds one that cannot be read', { export: [], unreadable: 1 }, unclear],
];
test.each(withMarker)('with the marker, an export that %s', async (_, shown, found) => {
  const sought = { contact, closedAt, intent: { ...intent, marker } };
  const context = { feedback: serviceOf(shown), areOwned: async () => [] };
  expect(await lookForRequest(sought, context)).toMatchObject(found);
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
    unclear,
  ],
  [
    'has nothing, though the contact was asked later',
    { export: [], counters: { ...before, last_appeal: at('12:00:01') } },
    unclear,
  ],
];
test.each(withoutMarker)('without the marker, an export that %s', async (_, shown, found) => {
  const context = {
    feedback: serviceOf(shown),
    areOwned: async (ids: readonly string[]) => ids.map((id) => id === 'owned'),
  };
  expect(await lookForRequest({ contact, closedAt, intent }, context)).toMatchObject(found);
});
