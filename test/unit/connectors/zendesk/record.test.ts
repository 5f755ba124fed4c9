import jsonata from 'jsonata';
import { describe, expect, test } from 'vitest';
import { catalogueOf, present, slugOf } from '../../../../connectors/zendesk/record.ts';
import { ticketRows } from '../../../../connectors/zendesk/ticket.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import { readOnlyApi } from '../../../support/connectors/zendesk/ports.ts';

const customer = {
  id: 501,
  name: 'Ann',
  email: 'ann@example.com',
  phone: '+3725550001',
  shared_phone_number: false,
  role: 'end-user',
  active: true,
  suspended: false,
  locale: 'et',
  iana_time_zone: 'Europe/Tallinn',
  time_zone: 'Tallinn',
  user_fields: { vip: true },
};
const ticket = {
  id: 41960,
  status: 'solved',
  updated_at: '2026-11-21T10:15:29Z',
  created_at: '2026-11-19T08:00:00Z',
  subject: 'Printer',
  custom_status_id: 5005,
  priority: 'normal',
  type: null,
  via: { channel: 'voice', source: {} },
  brand_id: 3001,
  ticket_form_id: 4001,
  tags: ['vip'],
  custom_fields: [
    { id: 360001, value: 'store_old_town' },
    { id: 360002, value: null },
    { id: 360003, value: ['a', 'b'] },
    { id: 360004, value: false },
  ],
  requester_id: 501,
  submitter_id: 9001,
  assignee_id: 9001,
  group_id: 2001,
  organization_id: 6001,
};
const catalogue = catalogueOf([
  {
    id: '360001',
    type: 'tagger',
    title: 'Store',
    custom_field_options: [{ name: 'Old Town', value: 'store_old_town' }],
  },
  { id: '360002', type: 'text', title: 'Order No.' },
  { id: '360003', type: 'multiselect', title: 'Topics', custom_field_options: [{ name: 'A!', value: 'a' }] },
  { id: '360004', type: 'checkbox', title: 'Callback?' },
]);

/** Through the same parsing as an answer of the API. */
async function rowOf(
  changes: { ticket?: object; requester?: object | null; metrics?: object | null; inside?: boolean } = {},
) {
  const { inside = false, metrics = { ticket_id: 41960, reopens: 0, replies: 2, solved_at: '2026-11-21T10:15:00Z' } } =
    changes;
  const requester = changes.requester === null ? [] : [{ ...customer, ...changes.requester }];
  const answer = {
    tickets: [{ ...ticket, ...(inside ? { metric_set: metrics } : {}), ...changes.ticket }],
    users: [...requester, { id: 9001, name: 'Bob', email: 'bob@example.com', role: 'agent' }],
    groups: [{ id: 2001, name: 'Phone' }],
    organizations: [{ id: 6001, name: 'Acme' }],
    brands: [{ id: 3001, name: 'Acme Outlet' }],
    custom_statuses: [{ id: 5005, agent_label: 'Repaired', end_user_label: 'Done' }],
    ...(metrics === null || inside ? {} : { metric_sets: [metrics] }),
  };
  return (await ticketRows(readOnlyApi(() => answer)).many(['41960'])).get('41960');
}

async function presented(changes?: Parameters<typeof rowOf>[0]): Promise<ReturnType<typeof present>> {
  const row = await rowOf(changes);
  if (row === undefined || row instanceof CloseloopError) throw new Error('the ticket was not parsed');
  return present(row, catalogue);
}

test('a ticket is presented whole', async () => {
  expect(await presented()).toEqual({
    state: { is: 'closed', closing: 'r0', closedAt: new Date('2026-11-21T10:15:00Z') },
    personId: '501',
    timeZone: 'Europe/Tallinn',
    locale: 'et',
    shape: {
      ticket: {
        id: '41960',
        subject: 'Printer',
        status: 'solved',
        customStatus: { id: '5005', name: 'Repaired' },
        priority: 'normal',
        channel: 'voice',
        brand: { id: '3001', name: 'Acme Outlet' },
        form: { id: '4001' },
        tags: ['vip'],
        fields: {
          '360001': 'store_old_town',
          store: 'store_old_town',
          '360003': ['a', 'b'],
          topics: ['a', 'b'],
          '360004': false,
          callback: false,
        },
        labels: { '360001': 'Old Town', store: 'Old Town', '360003': ['A!', 'b'], topics: ['A!', 'b'] },
        createdAt: '2026-11-19T08:00:00.000Z',
        replies: 2,
        solvedAt: '2026-11-21T10:15:00.000Z',
        group: { id: '2001', name: 'Phone' },
        organization: { id: '6001', name: 'Acme' },
      },
      requester: {
        id: '501',
        name: 'Ann',
        email: 'ann@example.com',
        phone: '+3725550001',
        locale: 'et',
        timeZone: 'Europe/Tallinn',
        fields: { vip: true },
      },
      assignee: { id: '9001', name: 'Bob', email: 'bob@example.com' },
    },
  });
});

describe('what differs from the documentation', () => {
  const read = (tickets: unknown[]) => ticketRows(readOnlyApi(() => ({ tickets }))).many(['41960', '41961']);

  test('is one ticket, and not the others of its page', async () => {
    const rows = await read([{ ...ticket, id: '41961', status: 7, name: 7 }, ticket]);
    expect(rows.get('41960')).toMatchObject({ id: '41960' });
    expect(rows.get('41961')).toMatchObject({
      message: "Zendesk ticket 41961 differs from Zendesk's documentation at status.",
      advice: { kind: 'permanent' },
    });
  });

  test.each([{ ...ticket, id: null }, { status: 'solved' }, null])(
    'is the page with a ticket without an id',
    async (other) => {
      await expect(read([ticket, other])).rejects.toMatchObject({ issues: [{ path: ['tickets', 1, 'id'] }] });
    },
  );

  test('is a value of a field, which is empty then', async () => {
    const values = [{ from: 'a' }, ['a', 1], null, undefined, 0];
    const custom_fields = values.map((value, i) => ({ id: 360_010 + i, value }));
    const { shape } = await presented({ ticket: { custom_fields } });
    expect(shape.ticket.fields).toEqual({ 360014: 0 });
  });
});

describe('the expressions of design.md', () => {
  const rows: [expression: string, changes: Parameters<typeof rowOf>[0], expected: unknown][] = [
    ['ticket.group.name = "Phone" and $not("no_survey" in ticket.tags)', {}, true],
    ['ticket.group.name = "Phone" and $not("no_survey" in ticket.tags)', { ticket: { tags: ['no_survey'] } }, false],
    ['[requester.phone, requester.email]', {}, ['+3725550001', 'ann@example.com']],
    ['[requester.phone, requester.email]', { requester: { shared_phone_number: true } }, ['ann@example.com']],
    ['ticket.fields.store', {}, 'store_old_town'],
    ['ticket.fields.`360001`', {}, 'store_old_town'],
    ['ticket.labels.store', {}, 'Old Town'],
    ['assignee.name', {}, 'Bob'],
    ['ticket.brand.name = "Acme Outlet"', {}, true],
    ['ticket.customStatus.name', {}, 'Repaired'],
    ['ticket.form.name', {}, undefined],
    ['ticket.form.id', {}, '4001'],
    ['assignee.name', { ticket: { assignee_id: null } }, undefined],
  ];
  test.each(rows)('%s %j', async (expression, changes, expected) => {
    const { shape } = await presented(changes);
    const value: unknown = await jsonata(expression).evaluate(shape);
    expect(Array.isArray(value) ? [...value] : value).toEqual(expected);
  });
});

// Every state: ticket.test.ts.
test.each([
  ['beside the ticket', {}, 'r2', '2026-11-21T10:15:00Z'],
  ['inside the ticket', { inside: true }, 'r2', '2026-11-21T10:15:00Z'],
  ['nowhere: the first closing, at the last change', { metrics: null }, 'r0', '2026-11-21T10:15:29Z'],
])('the closing is told by the metrics %s', async (_name, changes, closing, at) => {
  const metrics = { ticket_id: 41960, reopens: 2, solved_at: '2026-11-21T10:15:00Z' };
  const { state } = await presented({ metrics, ...changes });
  expect(state).toEqual({ is: 'closed', closing, closedAt: new Date(at) });
});

describe('slugOf makes', () => {
  test.each([
    ['Store', 'store'],
    ['Order No.', 'order_no'],
    ['  Größe (cm) ', 'grosse_cm'],
    ['Ülemus / juht', 'ulemus_juht'],
    ['Магазин', 'магазин'],
    ['매장', '매장'],
    ['???', ''],
  ])('%s into %s', (title, slug) => {
    expect(slugOf(title)).toBe(slug);
  });
});

test('a name belongs to the active, then to the older field', () => {
  const field = (id: string, active: boolean): object & Parameters<typeof catalogueOf>[0][number] => ({
    id,
    type: 'text',
    title: 'Store',
    active,
  });
  const owner = (...fields: Parameters<typeof catalogueOf>[0][number][]): string[] => [
    ...catalogueOf(fields).slugs.keys(),
  ];
  expect(owner(field('20', true), field('3', true))).toEqual(['3']);
  expect(owner(field('20', true), field('3', false))).toEqual(['20']);
});
