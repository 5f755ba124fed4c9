import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stateOf, type Ticket } from '../../../../connectors/zendesk/ticket.ts';

const solvedAt = new Date('2026-11-21T10:15:00Z');
const changedAt = new Date('2026-11-25T11:00:00Z');
const customer = { role: 'end-user', active: true, suspended: false };

interface Facts {
  status: string;
  tags: string[];
  requester: Parameters<typeof stateOf>[1];
  /** Undefined: Zendesk sent no metrics. */
  reopens: number | undefined;
  changedAt: Date;
}
const solved: Facts = { status: 'solved', tags: ['vip'], requester: customer, reopens: 0, changedAt };

function stateBy({ status, tags, requester, reopens, changedAt }: Facts) {
  const ticket: Ticket = {
    ...{ id: '7', status, tags, updated_at: changedAt.toISOString(), custom_fields: [], followup_ids: [] },
    ...(reopens !== undefined && { metric_set: { reopens, solved_at: solvedAt } }),
  };
  return stateOf(ticket, requester);
}

const first = { is: 'closed', closing: 'r0', closedAt: solvedAt };
const out = (why: string): object => ({ is: 'out', why });
const merged = out('the ticket was merged into another one');
const deleted = out('the ticket was deleted');
const noAgent = out('the requester is not a customer but an agent');

describe('a ticket that', () => {
  const rows: [name: string, ticket: Partial<Facts>, expected: object][] = [
    // Closings and their names.
    ['was solved has its first closing', {}, first],
    ['was closed directly has it too', { status: 'closed' }, first],
    ['went from solved to closed, days later, has the same', { status: 'closed', reopens: 0 }, first],
    ['was archived since has the same', { status: 'archived' }, first],
    ['was reopened and solved again has another', { reopens: 1 }, { ...first, closing: 'r1' }],
    ['was reopened twice and then closed has the third', { status: 'closed', reopens: 2 }, { ...first, closing: 'r2' }],
    [
      'comes without metrics has the first, at its last change',
      { reopens: undefined },
      { ...first, closedAt: changedAt },
    ],
    // Work in progress, whatever a custom status calls it.
    ...['new', 'open', 'pending', 'hold'].map((status): [string, Partial<Facts>, object] => [
      `is ${status} is open`,
      { status, reopens: 1 },
      { is: 'open' },
    ]),
    ['has a status nobody has heard of is open', { status: 'dreaming' }, { is: 'open' }],
    // Merge.
    ['was merged away never counts', { status: 'closed', tags: ['closed_by_merge'] }, merged],
    ['was merged away and archived never counts', { status: 'archived', tags: ['closed_by_merge'] }, merged],
    // Delete, spam, restore.
    ['was deleted never counts', { status: 'deleted' }, deleted],
    ['was deleted for good never counts', { status: 'deleted', requester: undefined }, deleted],
    ['was scrubbed never counts', { status: 'scrubbed' }, deleted],
    ['was deleted and restored counts as before', { status: 'solved' }, first],
    [
      'was marked as spam has a suspended requester',
      { requester: { ...customer, suspended: true } },
      out('the requester is suspended (spam)'),
    ],
    ['was reopened as spam is open', { status: 'open', requester: { ...customer, suspended: true } }, { is: 'open' }],
    // Follow-ups begin with the tags of their parent.
    ['follows up on an answered one counts', { tags: ['fb_answered', 'fb_grade_9'] }, first],
    ['follows up on an unanswered one counts', { tags: ['fb_no_answer'] }, first],
    ['follows up on a merged one counts once solved', { tags: ['closed_by_merge'] }, first],
    // Who would be asked.
    ['belongs to an agent (a side conversation) never counts', { requester: { ...customer, role: 'agent' } }, noAgent],
    ['belongs to an admin never counts', { requester: { ...customer, role: 'admin' } }, noAgent],
    ['belongs to somebody of no known role never counts', { requester: { active: true } }, noAgent],
    [
      'belongs to a suspended user never counts',
      { requester: { ...customer, suspended: true } },
      out('the requester is suspended (spam)'),
    ],
    [
      'belongs to a deleted user never counts',
      { requester: { ...customer, active: false } },
      out('the requester was deleted'),
    ],
    ['belongs to nobody any more never counts', { requester: undefined }, out('the requester does not exist any more')],
    ['is found by a sweep counts before its requester is read', { requester: 'unread' }, first],
    [
      'is found by a sweep and was merged never counts',
      { requester: 'unread', status: 'closed', tags: ['closed_by_merge'] },
      merged,
    ],
  ];
  test.each(rows)('%s', (_name, ticket, expected) => {
    expect(stateBy({ ...solved, ...ticket })).toEqual(expected);
  });

  test('is seen a thousand times has one closing, whatever else changes on it', () => {
    const anything = fc.record({
      status: fc.constantFrom('solved', 'closed', 'archived'),
      tags: fc.array(fc.constantFrom('vip', 'fb_answered', 'fb_grade_1', 'fb_no_answer')),
      changedAt: fc.date({ noInvalidDate: true }),
    });
    fc.assert(
      fc.property(anything, (look) => {
        expect(stateBy({ ...solved, ...look })).toEqual(first);
      }),
    );
  });
});
