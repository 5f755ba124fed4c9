import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { meaningOf } from '../../../../connectors/zendesk/events.ts';
import { zendesk } from '../../../../connectors/zendesk/zendesk.ts';
import type { Delivery, Events } from '../../../../core/connector/contract.ts';
import { testPorts } from '../../../support/connectors/zendesk/ports.ts';

const credentials = { subdomain: 'acme', clientId: 'i', clientSecret: 's', webhookSecrets: ['s'] };
const events = async (delivery: Delivery, settings: object): Promise<Events> =>
  zendesk.open({ ...credentials, ...settings }, testPorts().ports).events(delivery);

const receivedAt = new Date('2026-11-21T10:15:31.400Z');
const configured = { accountId: '7654321', integrationUserId: '9900' };

function delivered(body: unknown, headers: Record<string, string> = {}): Delivery {
  const raw = body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return { method: 'POST', url: 'https://hooks.example.com/hooks/support', headers, raw, receivedAt };
}

function ticketEvent(name: string, event: object = {}, more: object = {}): object {
  return {
    type: `zen:event-type:ticket.${name}`,
    account_id: 7654321,
    id: '5f1d1f0a-2c52-4f8e-9d0b-2a7a6f3b9c11',
    subject: 'zen:ticket:41960',
    time: '2026-11-21T10:15:29.482913657Z',
    zendesk_event_version: '2022-11-06',
    event,
    detail: { id: '41960', actor_id: '9001', status: 'SOLVED', description: 'private', tags: ['vip'] },
    ...more,
  };
}

const status = (previous: string, current: string): object => ticketEvent('status_changed', { previous, current });

/** In one word: what became of a delivery. */
function outcome(result: Events): string {
  if (!result.ok) return `bad: ${result.why}`;
  const [event] = result.events;
  return event === undefined ? `ignored: ${result.ignored[0]?.why}` : event.kind;
}

test('reads an event as Zendesk sends it (signature vector 1)', async () => {
  const file = new URL('../../../support/connectors/zendesk/vectors/webhook-signatures.json', import.meta.url);
  const { vectors } = z
    .object({ vectors: z.array(z.object({ body_base64: z.string() })) })
    .parse(JSON.parse(readFileSync(file, 'utf8')));
  expect(await events(delivered(Buffer.from(vectors[0]?.body_base64 ?? '', 'base64')), configured)).toEqual({
    ok: true,
    events: [
      {
        kind: 'closed',
        recordId: '41960',
        at: new Date('2026-11-21T10:15:29.482Z'),
        key: '5f1d1f0a-2c52-4f8e-9d0b-2a7a6f3b9c11',
        what: 'status SOLVED, was OPEN',
        certain: true,
      },
    ],
    ignored: [],
  });
});

describe('a status change', () => {
  const before = 'ignored: the ticket was closed before';
  const never = 'ignored: the ticket was not closed before';
  const rows: [previous: string, current: string, expected: string][] = [
    ['NEW', 'SOLVED', 'closed'],
    ['OPEN', 'SOLVED', 'closed'],
    ['PENDING', 'SOLVED', 'closed'],
    ['HOLD', 'SOLVED', 'closed'],
    ['OPEN', 'CLOSED', 'closed'],
    ['DELETED', 'SOLVED', 'closed'],
    ['SOLVED', 'CLOSED', before],
    ['CLOSED', 'SOLVED', before],
    ['SOLVED', 'OPEN', 'changed'],
    ['SOLVED', 'NEW', 'changed'],
    ['SOLVED', 'PENDING', 'changed'],
    ['CLOSED', 'HOLD', 'changed'],
    ['NEW', 'OPEN', never],
    ['OPEN', 'PENDING', never],
    ['SOLVED', 'DELETED', 'changed'],
    ['OPEN', 'DELETED', 'changed'],
    ['CLOSED', 'SCRUBBED', 'changed'],
    ['CLOSED', 'ARCHIVED', 'ignored: archiving changes nothing'],
    ['SOLVED', 'SOMETHING_NEW', 'changed'],
  ];
  test.each(rows)('from %s to %s is %s', async (previous, current, expected) => {
    expect(outcome(await events(delivered(status(previous, current)), configured))).toBe(expected);
  });

  test('never is a closing unless it comes from open and goes to closed', () => {
    const any = fc.constantFrom(
      'NEW',
      'OPEN',
      'PENDING',
      'HOLD',
      'SOLVED',
      'CLOSED',
      'DELETED',
      'ARCHIVED',
      'SCRUBBED',
    );
    fc.assert(
      fc.property(any, any, (previous, current) => {
        const done = ['SOLVED', 'CLOSED'];
        expect(meaningOf({ name: 'status_changed', previous, current }).is === 'closed').toBe(
          done.includes(current) && ![...done, 'ARCHIVED'].includes(previous),
        );
      }),
    );
  });
});

describe('an event', () => {
  const rows: [name: string, body: unknown, expected: string][] = [
    ...['merged', 'soft_deleted', 'permanently_deleted', 'marked_as_spam'].map((name): [string, unknown, string] => [
      `${name} is a change`,
      ticketEvent(name),
      'changed',
    ]),
    ['undeleted may be of a closed ticket, which reading tells (audit 22)', ticketEvent('undeleted'), 'closed'],
    ...['custom_status_changed', 'comment_added', 'tags_changed', 'custom_field_changed', 'created'].map(
      (name): [string, unknown, string] => [
        `${name} is ignored`,
        ticketEvent(name),
        'ignored: neither opens nor closes a ticket',
      ],
    ),
    [
      'about a user is ignored',
      { ...ticketEvent('x'), type: 'zen:event-type:user.created' },
      'ignored: not a ticket event',
    ],
    [
      'by the user that we act as counts: other software may act as it too',
      { ...status('OPEN', 'SOLVED'), detail: { id: '41960', actor_id: 9900 } },
      'closed',
    ],
    [
      'by that user that reopens counts',
      { ...status('SOLVED', 'OPEN'), detail: { id: '41960', actor_id: 9900 } },
      'changed',
    ],
    ...['custom_field_changed', 'tags_changed', 'comment_added'].map((name): [string, unknown, string] => [
      `${name} by that user is our echo`,
      ticketEvent(name, {}, { detail: { id: '41960', actor_id: 9900 } }),
      'ignored: the echo of what we wrote',
    ]),
    [
      'of the system (user -1) counts',
      { ...status('OPEN', 'SOLVED'), detail: { id: '41960', actor_id: '-1' } },
      'closed',
    ],
    [
      'of another account is ignored',
      { ...status('OPEN', 'SOLVED'), account_id: 1 },
      'ignored: another Zendesk account than accountId in the configuration',
    ],
    ['without details is known by its subject', ticketEvent('permanently_deleted', {}, { detail: null }), 'changed'],
    [
      'without any ticket id is bad',
      ticketEvent('merged', {}, { detail: null, subject: null }),
      'bad: a ticket event without the id of the ticket',
    ],
    ['that is no object is bad', 'null', 'bad: neither a Zendesk event nor {"ticket_id": …} from a trigger'],
    ['that is no JSON is bad', 'ticket=1', 'bad: no JSON'],
    ['that is not UTF-8 is bad', Buffer.from('eyJ0Ijoi6SEifQ==', 'base64'), 'bad: no JSON'],
    ['with an empty body is bad', '', 'bad: no JSON'],
  ];
  test.each(rows)('%s', async (_name, body, expected) => {
    expect(outcome(await events(delivered(body), configured))).toBe(expected);
  });

  test('without a readable time happened when it was received', async () => {
    const result = await events(delivered({ ...status('OPEN', 'SOLVED'), time: 'yesterday' }), {});
    expect(result.ok && result.events[0]?.at).toEqual(receivedAt);
  });

  test('of another account counts where no account is configured', async () => {
    expect(outcome(await events(delivered({ ...status('OPEN', 'SOLVED'), account_id: 1 }), {}))).toBe('closed');
  });
});

describe('a trigger', () => {
  const key = async (id: unknown, invocation?: string, at = receivedAt): Promise<string> => {
    const headers = invocation === undefined ? {} : { 'x-zendesk-webhook-invocation-id': invocation };
    const result = await events({ ...delivered({ v: 1, ticket_id: id }, headers), receivedAt: at }, {});
    return result.ok ? (result.events[0]?.key ?? '') : '';
  };
  test('tells of a closing', async () => {
    expect(
      await events(delivered({ v: 1, source: 'zendesk-trigger', ticket_id: '41960', status: 'Solved' }), {}),
    ).toEqual({
      ok: true,
      events: [
        {
          kind: 'closed',
          recordId: '41960',
          at: receivedAt,
          key: expect.stringMatching(/^trigger-[\w-]{32}$/),
          what: 'a trigger fired',
        },
      ],
      ignored: [],
    });
  });
  test('has one key for all attempts of a delivery, another for every other', async () => {
    expect(await key('1', 'a')).toBe(await key(1, 'a', new Date(0)));
    const keys = await Promise.all([key('1', 'a'), key('2', 'a'), key('1', 'b'), key('1')]);
    expect(new Set(keys).size).toBe(4);
  });
  test('whose placeholder was not filled in is bad', async () => {
    expect(outcome(await events(delivered({ ticket_id: '{{ticket.id}}' }), {}))).toMatch(/^bad/);
  });
});

test('nothing a person typed gets into an event', async () => {
  const body = ticketEvent('status_changed', { previous: 'Mrs Smith', current: 'SOLVED' });
  expect(JSON.stringify(await events(delivered(body), {}))).not.toMatch(/Smith|private/);
});

describe('the meaning of an event that was', () => {
  const statusChange = (previous: string, current: string) => ({ name: 'status_changed', previous, current });
  const other = (name: string) => ({ name, previous: 'unknown', current: 'unknown' });
  const before = 'the ticket was closed before';
  const never = 'the ticket was not closed before';
  const neither = 'neither opens nor closes a ticket';
  const rows: [name: string, event: Parameters<typeof meaningOf>[0], expected: string][] = [
    ['solved', statusChange('OPEN', 'SOLVED'), 'closed'],
    ['closed directly', statusChange('PENDING', 'CLOSED'), 'closed'],
    ['solved, then closed', statusChange('SOLVED', 'CLOSED'), before],
    ['closed, then solved (not documented)', statusChange('CLOSED', 'SOLVED'), before],
    ['taken out of the archive', statusChange('ARCHIVED', 'CLOSED'), before],
    ['archived', statusChange('CLOSED', 'ARCHIVED'), 'archiving changes nothing'],
    ['reopened by a reply', statusChange('SOLVED', 'OPEN'), 'changed'],
    ['put on hold after solving', statusChange('SOLVED', 'HOLD'), 'changed'],
    ['moved between open states', statusChange('OPEN', 'PENDING'), never],
    ['deleted', statusChange('SOLVED', 'DELETED'), 'changed'],
    ['restored as solved', statusChange('DELETED', 'SOLVED'), 'closed'],
    ['scrubbed', statusChange('CLOSED', 'SCRUBBED'), 'changed'],
    ['merged', other('merged'), 'changed'],
    ['soft-deleted', other('soft_deleted'), 'changed'],
    ['permanently deleted', other('permanently_deleted'), 'changed'],
    ['marked as spam', other('marked_as_spam'), 'changed'],
    ['undeleted', other('undeleted'), 'restored'],
    ['solved differently (custom status)', other('custom_status_changed'), neither],
    ['rated natively', other('csat_received'), neither],
    ['tagged by an agent', other('tags_changed'), neither],
  ];
  const said = (meaning: ReturnType<typeof meaningOf>): string => (meaning.is === 'ignored' ? meaning.why : meaning.is);
  test.each(rows)('%s', (_name, event, expected) => {
    expect(said(meaningOf(event))).toBe(expected);
    // Whoever it was: other software may use the same user.
    if (expected !== neither) expect(said(meaningOf(event, true))).toBe(expected);
  });

  test.each(['custom_field_changed', 'tags_changed', 'comment_added'])('%s of ours is an echo', (name) => {
    expect(said(meaningOf(other(name), true))).toBe('the echo of what we wrote');
  });
});
