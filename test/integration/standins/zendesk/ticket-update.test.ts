import { beforeEach, describe, expect, test } from 'vitest';
import { customer, fields, openAccount, useAccount } from '../../../support/standins/zendesk/account.ts';

const account = useAccount();

const ticket = '/api/v2/tickets/41960';

describe('a ticket update', () => {
  const values: [name: string, id: number, sent: unknown, kept: unknown, tags: string[]][] = [
    [
      'takes an option of a dropdown, which becomes a tag',
      fields.dropdown,
      'fb_grade_9',
      'fb_grade_9',
      ['vip', 'fb_grade_9'],
    ],
    ['drops a dropdown value that is no option, with 200', fields.dropdown, 'fb_grade_8', null, ['vip']],
    ["drops a dropdown option's display name, with 200", fields.dropdown, '9', null, ['vip']],
    ['takes a number as text', fields.number, '9', 9, ['vip']],
    ['takes a day', fields.when, '2026-11-21', '2026-11-21', ['vip']],
    ['takes text', fields.text, 'thanks', 'thanks', ['vip']],
    ['ticks a checkbox, which becomes its tag', fields.box, true, true, ['vip', 'fb_asked']],
    ['takes several options', fields.many, ['why_a', 'why_b', 'other'], ['why_a', 'why_b'], ['vip', 'why_a', 'why_b']],
    ['ignores a field that is not there', 1, 'x', undefined, ['vip']],
  ];
  test.each(values)('it %s', async (_name, id, sent, kept, tags) => {
    const { status, json } = await account.call('PUT', `${ticket}.json`, {
      ticket: { custom_fields: [{ id, value: sent }] },
    });
    const field = json.ticket.custom_fields.find((one: { id: number }) => one.id === id);
    expect([status, field?.value, json.ticket.tags]).toEqual([200, kept, tags]);
  });

  const refusals: [name: string, patch: object, status: number, key: string][] = [
    ['refuses a word in an integer field', { custom_fields: [{ id: fields.number, value: 'nine' }] }, 422, 'base'],
    ['refuses a day that does not exist', { custom_fields: [{ id: fields.when, value: '2026-02-30' }] }, 422, 'base'],
    ['refuses an unknown status', { status: 'Solved' }, 422, 'status'],
    ['refuses to go back to new', { status: 'new' }, 422, 'status'],
    ['refuses to solve what nobody has', { status: 'solved', assignee_id: null }, 422, 'base'],
  ];
  test.each(refusals)('it %s', async (_name, patch, status, key) => {
    const reply = await account.call('PUT', ticket, { ticket: patch });
    expect([reply.status, reply.json.error, Object.keys(reply.json.details)]).toEqual([status, 'RecordInvalid', [key]]);
    expect(account.standin.ticket(41960).audits).toEqual([]);
  });

  test('it replaces the dropdown tag with the value and clears the value with the tag', async () => {
    await account.call('PUT', ticket, { ticket: { custom_fields: [{ id: fields.dropdown, value: 'fb_grade_9' }] } });
    await account.call('PUT', ticket, { ticket: { custom_fields: [{ id: fields.dropdown, value: 'fb_grade_10' }] } });
    expect(account.standin.ticket(41960)).toMatchObject({ tags: ['vip', 'fb_grade_10'] });
    await account.call('PUT', ticket, { ticket: { tags: ['other'] } });
    expect(account.standin.ticket(41960)).toMatchObject({ tags: ['other'], fields: { [fields.dropdown]: null } });
  });

  test('it ignores unknown keys, and additional_tags outside update_many, and says so in a header', async () => {
    const { status, headers, json } = await account.call('PUT', ticket, {
      ticket: { additional_tags: ['x'], grade: 9 },
    });
    expect([status, json.ticket.tags, json.audit.events]).toEqual([200, ['vip'], []]);
    expect(headers.get('x-zendesk-api-warn')).toContain('["additional_tags","grade"]');
  });

  const comments: [name: string, isPublic: boolean, comment: object, shown: boolean, mails: number][] = [
    ['makes a comment public by default on a public ticket, and mails it', true, { body: 'hi' }, true, 1],
    ['makes a comment private by default on a private ticket', false, { body: 'hi' }, false, 0],
    ['keeps an internal note internal', true, { body: 'hi', public: false }, false, 0],
  ];
  test.each(comments)('it %s', async (_name, isPublic, comment, shown, mails) => {
    account.standin.addTicket({ id: 5, requesterId: customer, isPublic });
    const { json } = await account.call('PUT', '/api/v2/tickets/5', {
      ticket: { comment, metadata: { feedback_id: 'fb_77' } },
    });
    expect([json.audit.events[0].type, json.audit.events[0].public, json.audit.metadata.custom]).toEqual([
      'Comment',
      shown,
      { feedback_id: 'fb_77' },
    ]);
    const audits = await account.call('GET', '/api/v2/tickets/5/audits.json');
    expect([audits.json.audits.length, account.standin.ticket(5).mails]).toEqual([1, mails]);
  });

  const stamps: [name: string, body: object, status: number][] = [
    ['takes a safe update of what it last saw', { safe_update: true, updated_stamp: '2026-11-21T10:00:00Z' }, 200],
    ['refuses a safe update of an older state', { safe_update: true, updated_stamp: '2026-11-21T09:59:59Z' }, 409],
    ['takes safe_update:false for true', { safe_update: false, updated_stamp: '2026-11-21T09:59:59Z' }, 409],
  ];
  test.each(stamps)('it %s', async (_name, body, status) => {
    expect((await account.call('PUT', ticket, { ticket: { ...body, subject: 'New' } })).status).toBe(status);
  });

  const tagCalls: [name: string, method: string, status: number, tags: string[]][] = [
    ['adds tags with PUT', 'PUT', 200, ['vip', 'a']],
    ['replaces tags with POST', 'POST', 201, ['a']],
    ['removes tags with DELETE and a body', 'DELETE', 200, []],
  ];
  test.each(tagCalls)('it %s', async (_name, method, status, tags) => {
    const body = { tags: method === 'DELETE' ? ['vip'] : ['A'] };
    const reply = await account.call(method, `${ticket}/tags.json`, body);
    expect([reply.status, reply.json]).toEqual([status, { tags }]);
  });
});

describe('a closed ticket', () => {
  const closedBody = {
    error: 'RecordInvalid',
    description: 'Record validation errors',
    details: { status: [{ description: 'Status: closed prevents ticket update' }] },
  };
  beforeEach(() => account.standin.close(41960));

  test('it refuses every update with 422', async () => {
    const reply = await account.call('PUT', ticket, { ticket: { custom_fields: [] } });
    expect([reply.status, reply.json]).toEqual([422, closedBody]);
    expect((await account.call('PUT', `${ticket}/tags`, { tags: ['a'] })).status).toBe(422);
  });

  const edits: [name: string, role: 'admin' | 'agent', patch: object, status: number][] = [
    [
      'takes fields from an admin where closed tickets may be modified',
      'admin',
      { custom_fields: [{ id: fields.number, value: 9 }] },
      200,
    ],
    ['refuses a comment even there', 'admin', { comment: { body: 'x', public: false } }, 422],
    ['refuses an agent even there', 'agent', { custom_fields: [] }, 422],
  ];
  test.each(edits)('it %s', async (_name, apiRole, patch, status) => {
    account.standin.changeSettings({ modifyClosedTickets: true, apiRole });
    expect((await account.call('PUT', ticket, { ticket: patch })).status).toBe(status);
  });

  test('it fails alone in update_many', async () => {
    account.standin.addTicket({ id: 5, requesterId: customer });
    const stale = { id: 5, safe_update: true, updated_stamp: '2020-01-01T00:00:00Z' };
    const tickets = [
      { id: 41960, subject: 'a' },
      { id: 5, subject: 'b', additional_tags: ['t'] },
      { id: 6, subject: 'c' },
      stale,
    ];
    const { json } = await account.call('PUT', '/api/v2/tickets/update_many.json', { tickets });
    expect(json.job_status).toMatchObject({ status: 'queued', total: 4, results: null });
    await account.standin.idle();
    const done = await account.call('GET', `/api/v2/job_statuses/show_many.json?ids=${json.job_status.id}`);
    expect(done.json.job_statuses[0].status).toBe('completed');
    expect(done.json.job_statuses[0].results).toMatchObject([
      { id: 41960, success: false, error: 'RecordInvalid', details: 'Status: closed prevents ticket update' },
      { id: 5, success: true, status: 'Updated' },
      { id: 6, success: false, error: 'RecordNotFound' },
      { id: 5, success: false, error: 'UpdateConflict' },
    ]);
    expect(account.standin.ticket(5).tags).toEqual(['t']);
  });
});

describe('update_many', () => {
  test('it makes the same change to every id of the query', async () => {
    account.standin.addTicket({ id: 5, requesterId: customer });
    await account.call('PUT', '/api/v2/tickets/update_many.json?ids=5,41960', {
      ticket: { additional_tags: ['asked'], remove_tags: ['vip'] },
    });
    await account.standin.idle();
    expect([account.standin.ticket(5).tags, account.standin.ticket(41960).tags]).toEqual([['asked'], ['asked']]);
  });

  test('it shows a job queued, then working, then completed', async () => {
    const gates: (() => void)[] = [];
    const slow = await openAccount({ sleep: () => new Promise((resolve) => gates.push(resolve)) });
    const { json } = await slow.call('PUT', '/api/v2/tickets/update_many?ids=41960', { ticket: { subject: 'x' } });
    const seen: string[] = [];
    for (const _ of [1, 2, 3]) {
      seen.push((await slow.call('GET', `/api/v2/job_statuses/${json.job_status.id}.json`)).json.job_status.status);
      gates.shift()?.();
    }
    await slow.close();
    expect(seen).toEqual(['queued', 'working', 'completed']);
  });

  test('it leaves only the jobs queued for long that are told to run late', async () => {
    const slept: number[] = [];
    const late = await openAccount({ sleep: async (ms) => void slept.push(ms), jobs: { queuedMs: 5, workingMs: 0 } });
    late.standin.changeSettings({ nextJobsQueuedMs: [25_000] });
    const change = { ticket: { subject: 'x' } };
    await late.call('PUT', '/api/v2/tickets/update_many?ids=41960', change);
    await late.call('PUT', '/api/v2/tickets/update_many?ids=41960', change);
    await late.standin.idle();
    await late.close();
    expect(slept.filter((ms) => ms > 0)).toEqual([25_000, 5]);
  });

  test('it refuses the 31st job at once with TooManyJobs', async () => {
    const busy = await openAccount({ sleep: () => new Promise(() => {}) });
    const start = () => busy.call('PUT', '/api/v2/tickets/update_many?ids=41960', { ticket: { subject: 'x' } });
    const replies = await Promise.all(Array.from({ length: 31 }, start));
    await busy.close();
    expect(replies.filter((reply) => reply.status === 200).length).toBe(30);
    expect(replies.find((reply) => reply.status !== 200)?.json.error).toBe('TooManyJobs');
  });

  const refusals: [name: string, query: string, body: object][] = [
    ['refuses more than 100 tickets', '', { tickets: Array.from({ length: 101 }, (_v, index) => ({ id: index + 1 })) }],
    ['refuses a body without tickets', '', { ticket: {} }],
    ['refuses tickets without ids', '', { tickets: [{}] }],
  ];
  test.each(refusals)('it %s', async (_name, query, body) => {
    expect((await account.call('PUT', `/api/v2/tickets/update_many${query}`, body)).status).toBe(400);
  });
});

describe('an edit by an agent', () => {
  test('it hands the ticket to another requester under another subject, in one audit', async () => {
    const { id: requesterId } = account.standin.addUser({ email: 'dora@example.com' });
    await account.standin.edit({ id: 41960, subject: 'Scanner', requesterId });
    const { ticket: shown, audits } = account.standin.ticket(41960);
    expect([shown, audits.length]).toMatchObject([{ subject: 'Scanner', requester_id: requesterId }, 1]);
  });

  test('it hands the ticket to another group', async () => {
    const { id: groupId } = account.standin.addGroup({ name: 'Night' });
    await account.standin.edit({ id: 41960, groupId });
    expect(account.standin.ticket(41960).ticket).toMatchObject({ group_id: groupId });
  });

  test('it merges a user into another, whose the tickets are then', () => {
    const { id: into } = account.standin.addUser({ email: 'dora@example.com' });
    account.standin.mergeUser({ id: customer, into });
    expect(account.standin.ticket(41960).ticket).toMatchObject({ requester_id: into });
    expect(account.standin.user(customer).active).toBe(false);
  });

  test('it refuses a requester who is not there', () => {
    expect(() => account.standin.edit({ id: 41960, requesterId: 12 })).toThrow('there is no user 12');
  });
});

describe('users', () => {
  test('it updates user fields that exist, once a second and five times a minute', async () => {
    account.standin.changeUser({ id: customer, userFields: { last_grade: null } });
    const put = () =>
      account.call('PUT', `/api/v2/users/${customer}.json`, { user: { user_fields: { last_grade: 9, other: 1 } } });
    const first = await put();
    expect([first.status, first.json.user.user_fields]).toEqual([200, { last_grade: 9 }]);
    expect((await put()).status).toBe(429);
  });
});
