import { describe, expect, test } from 'vitest';
import type { RecordEvent, Source } from '../../../../core/connector/contract.ts';
import { atDesk, type Desk } from '../../../support/connectors/hubspot/desk.ts';
import { quietPorts } from '../../../support/contract/quiet-ports.ts';
import { recordEvents } from '../../../support/contract/record-events.ts';

const hourMs = 3_600_000;

/** Polls to the end; gives every page's events and where the next poll begins. Each page takes a while. */
async function sweep(desk: Desk, source: Source, from: { cursor: string } | { since: Date }, atMost = 20) {
  const events: RecordEvent[] = [];
  let at = from;
  for (let n = 1; ; n++) {
    later(desk, 250);
    const page = (await source.poll?.(at)) ?? expect.fail('no poll');
    events.push(...recordEvents(page.events));
    at = { cursor: page.cursor };
    if (page.done) return { events, cursor: page.cursor, pages: n, reached: page.reached };
    if (n === atMost) return expect.fail(`not done after ${n} pages`);
  }
}

const brief = (events: readonly RecordEvent[]) =>
  events.map(({ kind, recordId, what }) => `${kind} ${recordId}: ${what}`);
const since = ({ clock }: Desk) => ({ since: new Date(clock.ms - hourMs) });
/** Time goes on a bit. */
const later = ({ clock }: Desk, ms = 1000) => {
  clock.ms += ms;
};

describe('a poll', () => {
  test('finds what closed, by the closing that a read names; and what is open again', () =>
    atDesk(async (desk) => {
      const { standin } = desk;
      const source = desk.source({ objects: ['ticket', 'deal'] });
      const [a, b] = [standin.addTicket({}).id, standin.addTicket({}).id];
      const deal = standin.addDeal({}).id;
      later(desk);
      await standin.close(a);
      await standin.close(b);
      await standin.close(deal, 'deals');
      later(desk);
      await standin.reopen(b);
      const { events, reached } = await sweep(desk, source, since(desk));
      expect(brief(events)).toEqual([
        `closed ticket-${a}: found in closed stage 4`,
        `changed ticket-${b}: found in stage 1`,
        `closed deal-${deal}: found in closed stage closedwon`,
      ]);
      expect(reached).toEqual(new Date(desk.clock.ms));
      const [read] = await source.read([`ticket-${a}`]);
      const closing = read?.ok && read.record.state.is === 'closed' ? read.record.state.closing : '';
      expect(events[0]).toMatchObject({ closing, at: new Date(closing) });
    }));

  test('is one search for each object type, by the quota of searches, as background', () =>
    atDesk(async (desk) => {
      desk.standin.addTicket({});
      const taken: unknown[] = [];
      const { budget } = quietPorts({ budget: { take: async (...asked) => void taken.push(asked) } });
      const source = desk.source({ objects: ['ticket', 'deal'] }, { budget });
      await source.poll?.(since(desk));
      expect(desk.calls().sort()).toEqual(['GET tickets', 'POST deals/search', 'POST tickets/search']);
      expect(taken.slice(0, 2)).toEqual([
        ['search', 'background'],
        ['search', 'background'],
      ]);
    }));

  test('looks at the last ten minutes again, as search lags behind, and says the same of them', () =>
    atDesk(async (desk) => {
      const { standin } = desk;
      const source = desk.source();
      const { id } = standin.addTicket({});
      standin.changeSettings({ searchLagMs: 60_000 });
      later(desk);
      await standin.close(id);
      const first = await sweep(desk, source, since(desk));
      expect(first.events).toEqual([]);
      later(desk, 300_000);
      const second = await sweep(desk, source, first);
      expect(brief(second.events)).toEqual([`closed ticket-${id}: found in closed stage 4`]);
      later(desk, 200_000);
      const third = await sweep(desk, source, second);
      expect(third.events).toEqual(second.events);
      later(desk, 900_000);
      const fourth = await sweep(desk, source, third);
      expect((await sweep(desk, source, fourth)).events).toEqual([]);
    }));

  test('says nothing of a record that was only touched, by our own write for one', () =>
    atDesk(async (desk) => {
      const { standin } = desk;
      const source = desk.source();
      const { id } = standin.addTicket({});
      later(desk);
      await standin.close(id);
      later(desk, 5 * 24 * hourMs);
      await standin.change({ type: 'tickets', id, properties: { subject: 'touched' } });
      later(desk);
      expect((await sweep(desk, source, since(desk))).events).toEqual([]);
    }));

  test('takes closed stages that do not count for a change', () =>
    atDesk(async (desk) => {
      const { id } = desk.standin.addTicket({});
      later(desk);
      await desk.standin.close(id);
      const { events } = await sweep(desk, desk.source({ stages: ['9'] }), since(desk));
      expect(brief(events)).toEqual([`changed ticket-${id}: found in stage 4`]);
    }));

  test('hides what is deleted', () =>
    atDesk(async (desk) => {
      const { id } = desk.standin.addTicket({});
      await desk.standin.close(id);
      await desk.standin.deleteRecord({ type: 'tickets', id });
      expect((await sweep(desk, desk.source(), since(desk))).events).toEqual([]);
    }));

  test('of a kind of record that joins later begins where the others are', () =>
    atDesk(async (desk) => {
      const { standin, clock } = desk;
      const deal = standin.addDeal({}).id;
      await standin.close(deal, 'deals');
      const from = { since: new Date(clock.ms - 1) };
      const first = await sweep(desk, desk.source({ objects: ['ticket'] }), from);
      later(desk, 30 * 24 * hourMs);
      const second = await sweep(desk, desk.source({ objects: ['ticket'] }), first);
      later(desk, hourMs);
      const third = await sweep(desk, desk.source({ objects: ['ticket'] }), second);
      expect((await sweep(desk, desk.source({ objects: ['ticket', 'deal'] }), third)).events).toEqual([]);
    }));

  test.each(['', 'x', '{}', '{"since":"now"}'])('says what to do with a cursor that is none (%j)', (cursor) =>
    atDesk(async (desk) => {
      await expect(desk.source().poll?.({ cursor })).rejects.toMatchObject({
        advice: { kind: 'config' },
        message: expect.stringMatching(/cursor of the poll is not readable: remove it, and run backfill/),
      });
      expect(desk.calls()).toEqual([]);
    }),
  );
});
