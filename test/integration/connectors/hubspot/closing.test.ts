import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Pipelines } from '../../../../connectors/hubspot/pipelines.ts';
import { lastClosing, type RawRecord, stateOf } from '../../../../connectors/hubspot/record.ts';
import type { HubSpotSettings } from '../../../../connectors/hubspot/settings.ts';
import { pipelines } from '../../../support/connectors/hubspot/fake-hubspot.ts';

const closedStages = new Set(['4', '5']);
const isClosed = (stage: string) => closedStages.has(stage);
const at = (hour: number) => new Date(Date.UTC(2026, 10, 21, hour));
/** Newest first, as HubSpot lists it. */
const history = (...stages: [stage: string, hour: number][]) =>
  stages.map(([value, hour]) => ({ value, at: at(hour) })).reverse();

describe('the closing', () => {
  const rows: [name: string, changes: ReturnType<typeof history>, expected: Date | undefined][] = [
    ['is the move from open to closed', history(['1', 1], ['4', 2]), at(2)],
    ['stays when a closed record moves to another closed stage', history(['1', 1], ['4', 2], ['5', 3]), at(2)],
    ['is a new one after reopening', history(['1', 1], ['4', 2], ['1', 3], ['5', 4]), at(4)],
    ['is the creation of a record born closed', history(['4', 1]), at(1)],
    ['is none while the record is open', history(['1', 1], ['4', 2], ['1', 3]), undefined],
    ['is none without history', [], undefined],
    ['comes after an opening of the same instant', history(['4', 1], ['1', 2], ['4', 2]), at(2)],
    ['comes after a closing and an opening of one instant', history(['1', 1], ['4', 2], ['1', 2], ['4', 3]), at(3)],
    ['… in whatever order they are listed', history(['1', 1], ['1', 2], ['4', 2], ['4', 3]), at(3)],
    ['counts a deleted stage as open', history(['999', 1], ['4', 2]), at(2)],
  ];
  test.each(rows)('%s', (_, changes, expected) => expect(lastClosing(changes, isClosed)).toEqual(expected));

  test('does not depend on the order of the list, nor on moves between closed stages', () => {
    const changes = fc.uniqueArray(fc.record({ value: fc.constantFrom('1', '2', '4', '5'), hour: fc.nat(10_000) }), {
      selector: ({ hour }) => hour,
      minLength: 1,
    });
    fc.assert(
      fc.property(changes, fc.nat(), (some, seed) => {
        const list = some.map(({ value, hour }) => ({ value, at: at(hour) }));
        const turned = [...list.slice(seed % list.length), ...list.slice(0, seed % list.length)];
        const merged = list.map(({ value, at }) => ({ value: isClosed(value) ? '4' : '1', at }));
        const expected = lastClosing(list, isClosed);
        expect(lastClosing(turned, isClosed)).toEqual(expected);
        expect(lastClosing(merged, isClosed)).toEqual(expected);
      }),
    );
  });
});

type Filters = Pick<HubSpotSettings, 'pipelines' | 'stages'>;

describe('which closing counts', () => {
  const now = at(20);
  const lists = { ticket: Pipelines.parse(pipelines.tickets), deal: Pipelines.parse(pipelines.deals) };
  const ticket = (stage: string, ...changes: Parameters<typeof history>) => ({
    type: 'ticket' as const,
    record: { id: '7', properties: { hs_pipeline: '0', hs_pipeline_stage: stage }, history: history(...changes) },
  });
  const deal = (stage: string, more: object, ...changes: Parameters<typeof history>) => ({
    type: 'deal' as const,
    record: { id: '7', properties: { pipeline: 'default', dealstage: stage, ...more }, history: history(...changes) },
  });
  const closedAt = (hour: number) => ({ is: 'closed', closing: at(hour).toISOString(), closedAt: at(hour) });
  const out = (why: string) => ({ is: 'out', why });

  const open = { is: 'open' };
  interface Given {
    type: 'ticket' | 'deal';
    record: RawRecord;
  }
  const rows: [it: string, given: Given, expected: object, only?: Filters][] = [
    ['takes a direct close', ticket('4', ['1', 1], ['4', 2]), closedAt(2)],
    ['takes a record born closed', ticket('4', ['4', 1]), closedAt(1)],
    ['takes a close after reopening as another', ticket('4', ['4', 2], ['1', 3], ['4', 5]), closedAt(5)],
    ['takes no move between closed stages for a close', ticket('5', ['1', 1], ['4', 2], ['5', 3]), closedAt(2)],
    ['takes no way through closed stages and back', ticket('4', ['4', 2], ['5', 3], ['4', 4]), closedAt(2)],
    ['is none while the record is reopened', ticket('1', ['4', 2], ['1', 3]), open],
    ['knows several closed stages', ticket('5', ['1', 1], ['5', 2]), closedAt(2)],
    ['goes by metadata where the label says closed', ticket('3', ['1', 1], ['3', 2]), open],
    ['goes by metadata where the label says open', ticket('4', ['1', 1], ['4', 2]), closedAt(2)],
    [
      'takes no merge of closed records for a close',
      ticket('4', ['1', 1], ['4', 2], ['1', 1], ['4', 3], ['4', 9]),
      closedAt(2),
    ],
    ['takes a merge that closes an open record', ticket('4', ['1', 1], ['1', 2], ['4', 9]), closedAt(9)],
    ['is none after a merge that leaves the record open', ticket('1', ['4', 2], ['1', 9]), open],
    ['is the same after deletion and restore', ticket('4', ['1', 1], ['4', 2]), closedAt(2)],
    ['takes a won deal', deal('won', {}, ['new', 1], ['won', 2]), closedAt(2)],
    ['takes a lost deal', deal('lost', {}, ['new', 1], ['lost', 2]), closedAt(2)],
    ['takes no deal from lost to won for a close', deal('won', {}, ['lost', 2], ['won', 3]), closedAt(2)],
    ['minds no id that has got another meaning', deal('closedwon', {}, ['new', 1], ['closedwon', 2]), open],
    [
      'minds no close date, not even in the future',
      deal('won', { closedate: '2030-01-01T00:00:00Z' }, ['new', 1], ['won', 2]),
      closedAt(2),
    ],
    ['minds no close date of an open deal', deal('new', { closedate: at(1).toISOString() }, ['new', 1]), open],
    ['is out in a stage that was removed', ticket('99', ['99', 2]), out('HubSpot lists no stage 99 in its pipelines')],
    [
      'is out where it came from a stage that was removed since: that may have been closed',
      ticket('4', ['1', 1], ['99', 2], ['4', 3]),
      out('it came from stage 99, which HubSpot lists no more: that may have been closed'),
    ],
    ['is out without a stage', ticket('', ['1', 2]), out('HubSpot lists no stage (none) in its pipelines')],
    [
      'is out in another pipeline',
      ticket('4', ['4', 2]),
      out("pipeline 0 is not among this source's pipelines"),
      { pipelines: ['8'] },
    ],
    [
      'is out in another closed stage',
      ticket('4', ['4', 2]),
      out("stage 4 is not among this source's stages"),
      { stages: ['5'] },
    ],
    [
      'keeps its name when it comes into a stage that counts',
      ticket('5', ['1', 1], ['4', 2], ['5', 3]),
      closedAt(2),
      { stages: ['5'] },
    ],
    ['is open in an open stage, whatever counts', ticket('1', ['1', 2]), open, { stages: ['5'], pipelines: ['8'] }],
    [
      'takes the stage that it has for the later of two of one millisecond, whatever their order',
      ticket('4', ['1', 1], ['4', 2], ['1', 2]),
      closedAt(2),
    ],
    ['is unclear while the history lags behind', ticket('4', ['1', 2]), { is: 'unclear' }],
  ];
  test.each(rows)('it %s', (_, { type, record }, expected, only = {}) => {
    expect(stateOf(type, record, lists[type], only, now)).toEqual(expected);
  });

  test('it has no name and no date where the history was not asked for', () => {
    const record = { id: '7', properties: { hs_pipeline: '0', hs_pipeline_stage: '4' } };
    expect(stateOf('ticket', record, lists.ticket, {}, now)).toEqual({ is: 'closed', closing: '', closedAt: now });
  });
});
