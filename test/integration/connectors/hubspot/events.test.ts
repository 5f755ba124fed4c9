import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Events } from '../../../../core/connector/contract.ts';
import { open } from '../../../support/connectors/hubspot/fake-hubspot.ts';

const { vectors } = z
  .object({ vectors: z.array(z.object({ id: z.string(), body: z.string() })) })
  .parse(
    JSON.parse(
      readFileSync(new URL('../../../support/connectors/hubspot/vectors/webhooks.json', import.meta.url), 'utf8'),
    ),
  );
const bodyOf = (id: string) => vectors.find((vector) => vector.id === id)?.body ?? '';

const receivedAt = new Date('2026-11-20T12:00:00Z');
const ours = { writeBack: { grade: 'feedback_grade', comment: 'feedback_comment' }, objects: ['ticket', 'deal'] };

function read(body: string | object, settings: object = ours): Events {
  const raw = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const said = open(settings).events({ method: 'POST', url: 'https://x.example/h', headers: {}, raw, receivedAt });
  return said instanceof Promise ? expect.unreachable('no expression is evaluated') : said;
}

/** "closed ticket-1: why", then "ignored what: why". */
function summary(events: Events): string[] {
  if (!events.ok) return [`not ok: ${events.why}`];
  return [
    ...events.events.map((event) => `${event.kind} ${'recordId' in event ? event.recordId : ''}: ${event.what}`),
    ...events.ignored.map(({ what, why }) => `ignored ${what}: ${why}`),
  ];
}

const stage = {
  eventId: 1,
  subscriptionId: 2,
  portalId: 3,
  appId: 4,
  occurredAt: 1795175996000,
  subscriptionType: 'ticket.propertyChange',
  attemptNumber: 0,
  objectId: 541935488729,
  propertyName: 'hs_pipeline_stage',
  propertyValue: '4',
  changeSource: 'CRM_UI',
  sourceId: 'userId:9',
};

describe('a delivery', () => {
  test('of closed tickets gives their closings and leaves out our own write', () => {
    expect(summary(read(bodyOf('ticket-closed-batch')))).toEqual([
      'closed ticket-541935488729: stage is now 4',
      'closed ticket-541935490112: stage is now 1269308450',
      'ignored ticket.propertyChange of feedback_grade: we changed it ourselves',
    ]);
  });

  test('in the generic form says the same, and another app may close deals', () => {
    expect(summary(read(bodyOf('generic-object-batch')))).toEqual([
      'closed ticket-541935488729: stage is now 4',
      'closed deal-318842210076: stage is now closedwon',
    ]);
  });

  test('of a life tells mergers, deletions, restorations and late contacts apart', () => {
    expect(summary(read(bodyOf('lifecycle-batch')))).toEqual([
      'changed ticket-541935488729: merged into ticket 541935599001',
      'changed ticket-541935488730: merged into ticket 541935599001',
      'closed ticket-541935599001: ticket merged from others',
      'changed ticket-541935490112: ticket deleted',
      'closed ticket-541935490112: ticket restored',
      'closed ticket-541935488729: contact added to the ticket',
      'erase : a contact is to be forgotten',
      'ignored contact.deletion: only an erasure (privacyDeletion) takes a person out of their journeys',
    ]);
  });

  test('of a merge says where the merged records live on', () => {
    const events = read(bodyOf('lifecycle-batch'));
    const merged = events.ok && events.events.map((event) => ('mergedInto' in event ? event.mergedInto : undefined));
    expect(merged).toEqual([
      'ticket-541935599001',
      'ticket-541935599001',
      ...Array.from({ length: 5 }, () => undefined),
    ]);
  });

  test('of an erasure names the contact, by the id that a record presents', () => {
    const events = read(bodyOf('lifecycle-batch'));
    expect(events.ok && events.events.filter(({ kind }) => kind === 'erase')).toEqual([
      {
        kind: 'erase',
        personIds: ['106651134132'],
        at: new Date(1795175995000),
        key: expect.stringContaining('contact.privacyDeletion|106651134132'),
        what: 'a contact is to be forgotten',
      },
    ]);
  });

  test('of a hundred events gives a hundred, each with its own key', () => {
    const events = read(bodyOf('max-batch-100'));
    expect(events.ok && new Set(events.events.map(({ key }) => key)).size).toBe(100);
  });

  test('with odd formatting and unknown keys is read', () => {
    expect(summary(read(bodyOf('odd-formatting')))).toEqual(['closed ticket-541935488729: stage is now 4']);
  });

  test('with the time of each event, or the time of receipt', () => {
    const { occurredAt: _, ...timeless } = stage;
    const events = read([stage, timeless]);
    expect(events.ok && events.events.map(({ at }) => at)).toEqual([new Date(1795175996000), receivedAt]);
  });

  const closed = 'closed ticket-541935488729: stage is now 4';
  const rows: [name: string, expected: string, change: object, settings?: object][] = [
    ['names its type eventType', closed, { subscriptionType: undefined, eventType: 'ticket.propertyChange' }],
    [
      'has ids as text',
      'closed ticket-541935488729123456: stage is now 4',
      { objectId: '541935488729123456', portalId: '3' },
    ],
    [
      'is of a ticket just created',
      'closed ticket-541935488729: ticket created',
      { subscriptionType: 'ticket.creation', propertyName: undefined },
    ],
    [
      'adds a contact, in the generic form',
      'closed deal-7: contact added to the deal',
      {
        subscriptionType: 'object.associationChange',
        objectId: undefined,
        fromObjectId: 7,
        fromObjectTypeId: '0-3',
        toObjectId: 8,
        toObjectTypeId: '0-1',
        propertyName: undefined,
      },
    ],
    [
      'takes a contact off',
      'ignored ticket.associationChange: a contact was taken off, which closes nothing',
      {
        subscriptionType: 'ticket.associationChange',
        propertyName: undefined,
        associationType: 'TICKET_TO_CONTACT',
        fromObjectId: 7,
        toObjectId: 8,
        associationRemoved: true,
      },
    ],
    [
      'links a company',
      'ignored ticket.associationChange: not a contact on a ticket or deal',
      {
        subscriptionType: 'ticket.associationChange',
        propertyName: undefined,
        associationType: 'TICKET_TO_COMPANY',
        fromObjectId: 7,
        toObjectId: 8,
      },
    ],
    [
      'changes a deal where only tickets count',
      "ignored deal.propertyChange of dealstage: this source's objects don't include deal",
      { subscriptionType: 'deal.propertyChange', propertyName: 'dealstage' },
      {},
    ],
    [
      'changes another property',
      'ignored ticket.propertyChange of subject: this property does not close a record',
      { propertyName: 'subject', propertyValue: 'Jane Doe is angry' },
    ],
    [
      'changes a property that we write, by whomever',
      'ignored ticket.propertyChange of feedback_comment: only we write this property',
      { propertyName: 'feedback_comment', propertyValue: 'bad' },
    ],
    [
      'is our own write, by the configured app id',
      'ignored ticket.propertyChange of feedback_grade: we changed it ourselves',
      { propertyName: 'feedback_grade', changeSource: 'INTEGRATION', sourceId: '77' },
      { ...ours, appId: 77 },
    ],
    ['closes a ticket by an app that shares our id', closed, { changeSource: 'INTEGRATION', sourceId: '4' }],
    [
      'changes a property of a contact that we write',
      'ignored contact.propertyChange of last_grade: only we write this property',
      { subscriptionType: 'contact.propertyChange', propertyName: 'last_grade', changeSource: 'INTEGRATION' },
      { ...ours, writeBack: { contact: { grade: 'last_grade' } } },
    ],
    [
      'is of a note',
      'ignored note.creation: neither of a ticket nor of a deal',
      { subscriptionType: 'note.creation', propertyName: undefined, changeSource: 'INTEGRATION', sourceId: '4' },
    ],
    [
      'is of the link between a note and its ticket',
      'ignored ticket.associationChange: not a contact on a ticket or deal',
      {
        subscriptionType: 'ticket.associationChange',
        propertyName: undefined,
        associationType: 'TICKET_TO_NOTE',
        fromObjectId: 7,
        toObjectId: 8,
      },
    ],
    [
      'erases a contact it does not name',
      'ignored contact.privacyDeletion: it names no contact',
      { subscriptionType: 'contact.privacyDeletion', propertyName: undefined, objectId: undefined },
    ],
    ['is of another app', closed, { changeSource: 'INTEGRATION', sourceId: '77' }],
    ['has our app id but is of a user', closed, { sourceId: '4' }],
    [
      'is of another account',
      'ignored ticket.propertyChange of hs_pipeline_stage: it is of another HubSpot account',
      {},
      { ...ours, portalId: 99 },
    ],
    [
      'is of a kind we have never seen',
      'ignored ticket.sneezed: this kind of event says nothing about closing',
      { subscriptionType: 'ticket.sneezed', propertyName: undefined },
    ],
    [
      'names no record',
      'ignored ticket.propertyChange of hs_pipeline_stage: it names no record',
      { objectId: undefined },
    ],
    [
      'has a stage that is no id',
      'closed ticket-541935488729: stage is now another one',
      { propertyValue: 'jane@example.com' },
    ],
    [
      'has odd values in fields that matter less',
      closed,
      { eventId: null, occurredAt: '99999999999999999999', propertyValue: 4, sourceId: { a: 1 } },
    ],
    [
      'has a record id of another kind',
      'ignored ticket.propertyChange of hs_pipeline_stage: it names no record',
      { objectId: { a: 1 } },
    ],
    [
      'merges into the primary record',
      'closed ticket-5: ticket merged from others',
      {
        subscriptionType: 'ticket.merge',
        propertyName: undefined,
        primaryObjectId: 5,
        newObjectId: 5,
        mergedObjectIds: [5],
      },
    ],
  ];
  test.each(rows)('with an event that %s', (_, expected, change, settings) =>
    expect(summary(read([{ ...stage, ...change }], settings))).toEqual([expected]),
  );

  test.each(['{}', 'null', '"text"'])('of %j is not parseable', (body) => {
    expect(read(body)).toEqual({ ok: false, why: 'the body is not a JSON array of HubSpot events' });
  });

  test('with something that is no event says so', () => {
    expect(summary(read([null, 'x', stage]))).toEqual([
      'closed ticket-541935488729: stage is now 4',
      'ignored an event: it is not a JSON object',
      'ignored an event: it is not a JSON object',
    ]);
  });

  test('of more events than can be taken is refused (audit loop)', () => {
    expect(read(`[${Array(100_000).fill('0').join(',')}]`)).toEqual({
      ok: false,
      why: 'a delivery may hold 500 events at most',
    });
  });

  const merge = {
    subscriptionType: 'ticket.merge',
    objectId: 1,
    mergedObjectIds: Array.from({ length: 499 }, (_, i) => i + 2),
  };

  test('of merges of many records ends where it is too long (audit loop)', () => {
    const said = read(Array.from({ length: 500 }, (_, i) => ({ ...merge, eventId: i })));
    expect(said.ok && said.events.length).toBe(1_000);
  });

  test.each([
    ['property', { propertyName: 'p'.repeat(100_000) }],
    ['type', { subscriptionType: `ticket.merge.${'t'.repeat(100_000)}` }],
  ])('of many records under a long name of a %s has keys of a bearable size (audit loop)', (_, long) => {
    const said = read([{ ...merge, ...long }]);
    const keys = said.ok ? said.events.map(({ key }) => key.length) : [];
    expect(Math.max(0, ...keys)).toBeLessThan(1_000);
  });

  test('of any JSON array at all loses no element and throws nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (items) => {
        const events = read(items);
        expect(events.ok && events.events.length + events.ignored.length).toBe(items.length);
      }),
    );
  });
});
