import { describe, expect, test } from 'vitest';
import type { FieldType } from '../../../../standins/feedback/definitions.ts';
import { campaigns, created, service } from '../../../support/standins/feedback/service.ts';

/* Sections 2, 3 and 4.2 of the specification: feedback requests. A row for each rule, and for what the stand-in assumes. */

const required = ['This field is required.'];
const email = 'a@b.ee';
const detail = {
  noCampaign: { detail: 'No Campaign matches the given query.' },
  forbidden: { detail: 'You do not have permission to perform this action.' },
  missing: { detail: 'Not found.' },
  notExternal: { detail: 'Only feedback requests of an external campaign can be graded or commented.' },
  notScheduled: { detail: "Only feedback requests with status 'Scheduled' can be cancelled." },
};

describe('creating', () => {
  const noObject = { non_field_errors: ['Invalid data. Expected an object.'] };
  const ofWidget = { campaign: ['Feedback requests of a widget campaign are created by the widget.'] };
  const phone = ['Enter a valid mobile number in international format.'];
  const wrongTime = ['Datetime has wrong format. Use ISO 8601.'];
  const sms = { email: ['A campaign of type sms does not take this contact.'], phone: required };
  const noField = ['The campaign has no custom field of this name.'];
  const noFields = { custom_fields: ['Expected an object of field names and values.'] };
  const blank = '\u200b\ufeff';
  const to9 = (custom_fields: unknown) => ({ campaign: 9, email, custom_fields });

  test.each<[says: string, body: unknown, status: number, answer: object]>([
    ['no object', [1], 400, noObject],
    ['no body', undefined, 400, noObject],
    ['no campaign', { email }, 400, { campaign: required }],
    ['a campaign that is no number', { campaign: 'x' }, 400, { campaign: ['A valid integer is required.'] }],
    ['an unknown key', { campaign: 2, email, mail: 1 }, 400, { mail: ['Unknown field.'] }],
    ['an sms campaign without phone', { campaign: 1 }, 400, { phone: required }],
    ['an sms campaign with an email', { campaign: 1, email }, 400, sms],
    ['an email campaign without email', { campaign: 2 }, 400, { email: required }],
    ['a mixed campaign without either', { campaign: 3 }, 400, { phone: required, email: required }],
    ['an external campaign without identifier', { campaign: 5 }, 400, { identifier: required }],
    ['a widget campaign', { campaign: 4 }, 400, ofWidget],
    ['a national number', { campaign: 1, phone: '5551234' }, 400, { phone }],
    ['a number that is a number', { campaign: 1, phone: 3725551234 }, 400, { phone }],
    ['an email that is none', { campaign: 2, email: 'ann' }, 400, { email: ['Enter a valid email address.'] }],
    ['an empty identifier', { campaign: 5, identifier: ' ' }, 400, { identifier: ['Enter a valid identifier.'] }],
    ['an invisible one', { campaign: 5, identifier: blank }, 400, { identifier: ['Enter a valid identifier.'] }],
    ['a missing required custom field', to9(undefined), 400, { Store: required }],
    ['an empty required custom field', to9({ Store: '' }), 400, { Store: required }],
    ['an invisible required custom field', to9({ Store: blank }), 400, { Store: required }],
    ['an unknown custom field', to9({ Store: 'x', store: 'x' }), 400, { store: noField }],
    ['custom fields that are no object', to9([]), 400, noFields],
    ['a scheduled date that is none', { campaign: 2, email, scheduled: 'soon' }, 400, { scheduled: wrongTime }],
    ['two mistakes', { campaign: 9, scheduled: 1 }, 400, { email: required, scheduled: wrongTime, Store: required }],
    ['a campaign that does not exist', { campaign: 99 }, 404, detail.noCampaign],
    ['a draft campaign', { campaign: 7 }, 404, detail.noCampaign],
    ['an inactive campaign', { campaign: 6 }, 403, detail.forbidden],
    ["another account's campaign", { campaign: 8 }, 403, detail.forbidden],
  ])('refuses %s', async (_says, body, status, answer) => {
    const { standin, ask } = await campaigns();
    const made = await ask('POST /appeals/', body);
    expect([made.status, made.body, standin.requests()]).toEqual([status, answer, []]);
  });

  const not = (text: string) => ({ not: [text] });
  const date = not('Date has wrong format. Use YYYY-MM-DD.');
  const time = not('Time has wrong format. Use HH:MM or HH:MM:SS.');
  const dateTime = { not: wrongTime };
  const url = not('Enter a valid URL.');
  const integer = not('A valid integer is required.');
  test.each<[field: FieldType, sent: unknown, kept: unknown]>([
    ['Text', 'Ülo', 'Ülo'],
    ['Text', 5, not('Not a valid string.')],
    ['Text', null, undefined],
    ['Integer', -7, -7],
    ['Integer', '42', 42],
    ['Integer', 42.5, integer],
    ['Integer', '42.5', integer],
    ['Integer', true, integer],
    ['Date', '2024-02-29', '2024-02-29'],
    ['Date', '2026-02-29', date],
    ['Date', '2026-03-10T10:00:00Z', date],
    ['Time', '23:59', '23:59:00'],
    ['Time', '23:59:58', '23:59:58'],
    ['Time', '24:00', time],
    ['Date and time', '2026-03-10T10:00:00Z', '2026-03-10T12:00:00.000000+02:00'],
    ['Date and time', '2026-07-10T10:00', '2026-07-10T10:00:00.000000+03:00'],
    ['Date and time', '2026-07-10 10:00:01.250', '2026-07-10T10:00:01.250000+03:00'],
    ['Date and time', '2026-03-10T10:00:00-05:00', '2026-03-10T17:00:00.000000+02:00'],
    ['Date and time', '2026-03-10', dateTime],
    ['Date and time', '2026-13-10T10:00:00Z', dateTime],
    ['Yes/No', true, true],
    ['Yes/No', false, false],
    ['Yes/No', 'No', false],
    ['Yes/No', 1, not('Must be true or false.')],
    ['Choice', 'B', 'B'],
    ['Choice', '', undefined],
    ['Choice', 'b', not('Select a valid choice. b is not one of the available choices.')],
    ['URL address', 'https://example.com/a?b=c', 'https://example.com/a?b=c'],
    ['URL address', 'http://example.com', 'http://example.com'],
    ['URL address', 'ftp://example.com', url],
    ['URL address', 'example.com', url],
  ])('with a custom field of type %s takes %j: %j', async (name, sent, kept) => {
    const { ask } = await campaigns();
    const { status, body } = await ask('POST /appeals/', { campaign: 3, email, custom_fields: { [name]: sent } });
    const refused = typeof kept === 'object' && kept !== null && 'not' in kept ? { [name]: kept.not } : undefined;
    const fields = kept === undefined ? {} : { [name]: kept };
    expect([status, refused ? body : body.custom_fields]).toEqual(refused ? [400, refused] : [201, fields]);
  });
});

describe('a request goes out', () => {
  const nine = { sendFrom: '09:00:00', sendUntil: '20:00:00' };
  test.each<[says: string, campaign: object, scheduled: string | undefined, shown: string, dueAt: string]>([
    ['at once without delay and window', {}, undefined, '10T12:00:00.000000+02:00', '10T10:00'],
    ["after the campaign's delay", { sendDelay: 90 }, undefined, '10T13:30:00.000000+02:00', '10T11:30'],
    ['at its date, not later', { sendDelay: 90 }, '2026-03-10T14:00:00+02:00', '10T14:00:00.000000+02:00', '10T12:00'],
    ["without an offset in the account's zone", {}, '2026-03-30T09:30', '30T09:30:00.000000+03:00', '30T06:30'],
    ['at once by a date that has passed', {}, '2026-03-01T00:00:00Z', '01T02:00:00.000000+02:00', '10T10:00'],
    ['today after a wait', { ...nine, sendFrom: '14:00:00' }, undefined, '10T12:00:00.000000+02:00', '10T12:00'],
    ['the day after its delay', { ...nine, sendDelay: 600 }, undefined, '10T22:00:00.000000+02:00', '11T07:00'],
    ['at its date, moved into the window', nine, '2026-03-10T22:00:00Z', '11T00:00:00.000000+02:00', '11T07:00'],
  ])('%s', async (_says, campaign, scheduled, shown, dueAt) => {
    const { standin, ask } = await service();
    standin.addCampaign({ account: 'a', id: 12, ...campaign });
    const { body } = await ask('POST /appeals/', { campaign: 12, email, ...(scheduled && { scheduled }) });
    const due = new Date(`2026-03-${dueAt}:00Z`);
    expect([body.scheduled, standin.requests()[0]?.dueAt]).toEqual([`2026-03-${shown}`, due.toISOString()]);
    standin.moveClock({ now: new Date(due.getTime() - 1) });
    expect(standin.requests()[0]).toMatchObject({ status: 'Scheduled', sentAt: null });
    standin.moveClock({ now: due });
    expect(standin.requests()[0]).toMatchObject({ status: 'Sent', sentAt: due.toISOString() });
    expect((await ask(`GET /appeals/${body.id}`)).body).toMatchObject({
      status: 'Sent',
      scheduled: `2026-03-${shown}`,
    });
  });

  test('by a changed window where it has not gone out yet, and never to a contact on a list', async () => {
    const s = await service();
    for (const id of [12, 13]) s.standin.addCampaign({ account: 'a', id, ...nine, sendFrom: '14:00:00' });
    s.standin.blacklist({ account: 'a', contact: 'Black@b.ee' });
    s.standin.graylist({ campaign: 12, contact: 'Gray@b.ee' });
    for (const campaign of [12, 13]) {
      for (const to of ['black', 'gray', 'white']) await created(s, { campaign, email: `${to}@b.ee` });
    }
    const sent = () => s.standin.requests().flatMap((one) => (one.status === 'Sent' ? [one.campaign, one.email] : []));
    expect(sent()).toEqual([]);
    for (const id of [12, 13]) s.standin.changeCampaign({ id, sendFrom: '12:00:00' });
    expect(sent()).toEqual([12, 'white@b.ee', 13, 'gray@b.ee', 13, 'white@b.ee']);
    const exported = (await s.ask('GET /appeals/?campaign=12')).body.results;
    expect(exported.map(({ status }: { status: string }) => status)).toEqual(['Not sent', 'Not sent', 'Sent']);
  });
});

describe('the operations on a request', () => {
  const operations: [method: string, path: string, body?: object][] = [
    ['GET', ''],
    ['POST', '/grade', { grade: 5 }],
    ['POST', '/comment', { comment: 'Tere' }],
    ['POST', '/cancel'],
  ];
  test.each(operations)("%s …%s is 404 for none, 403 for another account's and an inactive campaign", async (...op) => {
    const [method, path, body] = op;
    const s = await campaigns();
    const call = (id: number) => s.ask(`${method} /appeals/${id}${path}`, body);
    expect(await call(500_009)).toMatchObject({ status: 404, body: detail.missing });
    const other = await s.ask('POST /appeals/', { campaign: 8, identifier: 'x' }, { authorization: 'Token other' });
    expect(await call(other.body.id)).toMatchObject({ status: 403, body: detail.forbidden });
    const id = await created(s, { campaign: 5, identifier: 'x' });
    s.standin.changeCampaign({ id: 5, state: 'inactive' });
    expect(await call(id)).toMatchObject({ status: 403, body: detail.forbidden });
  });

  const noGrade = { grade: ["A grade of the campaign's scale is required."] };
  const noComment = { comment: required };
  test.each<[operation: string, body: object, answer: object, campaign?: number]>([
    ['grade', { grade: 5 }, detail.notExternal, 2],
    ['comment', { comment: 'x' }, detail.notExternal, 2],
    ['grade', { grade: 6 }, noGrade],
    ['grade', { grade: '5' }, noGrade],
    ['grade', {}, noGrade],
    ['grade', { grade: 5, comment: 'x' }, { comment: ['Unknown field.'] }],
    ['comment', { comment: '' }, noComment],
    ['comment', { comment: '\u200b' }, noComment],
    ['comment', {}, noComment],
    ['cancel', { why: 'x' }, { why: ['Unknown field.'] }],
  ])('%s refuses %j', async (operation, body, answer, campaign = 5) => {
    const s = await campaigns();
    const id = await created(s, campaign === 5 ? { campaign, identifier: 'x' } : { campaign, email });
    expect(await s.ask(`POST /appeals/${id}/${operation}`, body)).toMatchObject({ status: 400, body: answer });
  });

  test('cancel is allowed in status Scheduled only, and what is cancelled is neither sent nor graded', async () => {
    const s = await campaigns();
    const id = await created(s, { campaign: 5, identifier: 'x', scheduled: '2026-04-01T10:00' });
    const cancel = (one: number) => s.ask(`POST /appeals/${one}/cancel`);
    expect(await cancel(id)).toMatchObject({ status: 200, body: { id, status: 'Cancelled' } });
    expect(await cancel(id)).toMatchObject({ status: 400, body: detail.notScheduled });
    s.standin.moveClock({ now: '2026-05-01T00:00:00Z' });
    expect(s.standin.requests()[0]).toMatchObject({ status: 'Cancelled', sentAt: null });
    expect((await s.ask(`POST /appeals/${id}/grade`, { grade: 5 })).status).toBe(400);
    expect((await s.ask(`POST /appeals/${id}/comment`, { comment: 'x' })).status).toBe(400);
    const sent = await created(s, { campaign: 5, identifier: 'x' });
    expect(await cancel(sent)).toMatchObject({ status: 400, body: detail.notScheduled });
  });
});
