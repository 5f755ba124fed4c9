import { describe, expect, test } from 'vitest';
import { agent, customer, fields, useAccount } from '../../../support/standins/zendesk/account.ts';

const account = useAccount();

const ticket = '/api/v2/tickets/41960';

describe('reading', () => {
  test('it shows a ticket with numbers as ids and arrays beside it', async () => {
    const { json } = await account.call('GET', `${ticket}.json?include=users,groups,organizations,metric_sets`);
    expect(json.ticket).toMatchObject({
      id: 41960,
      status: 'open',
      requester_id: customer,
      assignee_id: agent,
      custom_status_id: 5002,
      updated_at: '2026-11-21T10:00:00Z',
    });
    expect(json.ticket.custom_fields).toContainEqual({ id: fields.dropdown, value: null });
    expect(json.users.map((user: { id: number }) => user.id)).toEqual([customer, agent]);
    expect([json.groups[0].name, json.organizations[0].name]).toEqual(['Phone', 'Acme']);
    expect(json.metric_sets).toEqual([expect.objectContaining({ ticket_id: 41960, reopens: 0, solved_at: null })]);
  });

  test('it leaves missing and deleted ids out of show_many', async () => {
    account.standin.addTicket({ id: 7, requesterId: customer });
    await account.standin.deleteTicket(7);
    const { status, json } = await account.call('GET', '/api/v2/tickets/show_many.json?ids=41960,7,8');
    expect([status, json.tickets.map((one: { id: number }) => one.id)]).toEqual([200, [41960]]);
  });

  const refusals: [name: string, path: string, status: number, error: unknown][] = [
    ['answers RecordNotFound for a ticket that is not there', '/api/v2/tickets/1.json', 404, 'RecordNotFound'],
    ['answers InvalidEndpoint for a doubled slash', '/api/v2//tickets/41960.json', 404, 'InvalidEndpoint'],
    [
      'refuses 101 ids',
      `/api/v2/users/show_many?ids=${Array.from({ length: 101 }, (_v, i) => i + 1).join()}`,
      400,
      expect.anything(),
    ],
    ['refuses a page of 101', '/api/v2/groups?page[size]=101', 400, expect.anything()],
    [
      'refuses an export from this minute',
      `/api/v2/incremental/tickets/cursor.json?start_time=${Date.parse('2026-11-21T09:59:01Z') / 1000}`,
      400,
      'StartTimeTooRecent',
    ],
  ];
  test.each(refusals)('it %s', async (_name, path, status, error) => {
    const reply = await account.call('GET', path);
    expect([reply.status, reply.json.error]).toEqual([status, error]);
  });

  test('it lists all ticket fields at once, system fields not removable, dropdowns with options', async () => {
    const { json } = await account.call('GET', '/api/v2/ticket_fields.json');
    expect(json.ticket_fields.filter((one: { removable: boolean }) => !one.removable).length).toBeGreaterThan(5);
    expect(json.ticket_fields.find((one: { id: number }) => one.id === fields.dropdown)).toMatchObject({
      type: 'tagger',
      custom_field_options: [
        { name: '9', value: 'fb_grade_9' },
        { name: '10', value: 'fb_grade_10' },
      ],
    });
  });

  test('it exports changes older than a minute, with a cursor that goes on', async () => {
    account.standin.addTicket({ id: 50_000, requesterId: customer });
    account.clock.now += 120_000;
    account.standin.addTicket({ id: 50_001, requesterId: customer });
    const start = Date.parse('2026-11-21T09:00:00Z') / 1000;
    const first = await account.call('GET', `/api/v2/incremental/tickets/cursor.json?start_time=${start}&per_page=1`);
    const second = await account.call(
      'GET',
      `/api/v2/incremental/tickets/cursor.json?cursor=${first.json.after_cursor}`,
    );
    expect([first.json.tickets[0].id, first.json.end_of_stream]).toEqual([41960, false]);
    expect([second.json.tickets.map((one: { id: number }) => one.id), second.json.end_of_stream]).toEqual([
      [50_000],
      true,
    ]);
  });

  test('it exports to admins only', async () => {
    account.standin.changeSettings({ apiRole: 'agent' });
    expect((await account.call('GET', '/api/v2/incremental/tickets/cursor?start_time=1')).status).toBe(403);
  });
});

describe('the metric set', () => {
  test('it counts reopenings and knows the last solve', async () => {
    await account.standin.solve(41960);
    account.clock.now += 60_000;
    await account.standin.comment({ id: 41960, authorId: customer, body: 'still broken' });
    expect(account.standin.ticket(41960)).toMatchObject({
      ticket: { status: 'open' },
      metric_set: { reopens: 1, solved_at: '2026-11-21T10:00:00Z' },
    });
    account.clock.now += 60_000;
    await account.standin.solve(41960);
    expect(account.standin.ticket(41960)).toMatchObject({
      metric_set: { reopens: 1, solved_at: '2026-11-21T10:02:00Z' },
    });
    await account.standin.close(41960);
    expect(account.standin.ticket(41960)).toMatchObject({
      ticket: { status: 'closed', custom_status_id: 5005 },
      metric_set: { solved_at: '2026-11-21T10:02:00Z' },
    });
  });
});
