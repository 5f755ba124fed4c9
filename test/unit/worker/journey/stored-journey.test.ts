import { inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Journey } from '../../../../worker/journey/journey.ts';
import { pack, packAsIs, unpack } from '../../../../worker/journey/stored-journey.ts';

test.each([pack, packAsIs])('what %o has packed comes out again, and trace and calls with their times', (packed) => {
  const text = fc.string({ unit: 'binary', maxLength: 300 });
  const at = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2200-01-01') });
  const line = fc.record({ at, text });
  const end = fc.oneof(fc.integer(), text);
  const call = fc.record({ at, name: fc.nat(), end, ms: fc.nat(), tries: fc.integer({ min: 1, max: 3 }) });
  const journey = fc.dictionary(
    text.filter((name) => !['trace', 'calls', '__proto__'].includes(name)),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(journey, fc.array(line), fc.array(call), (one, trace, calls) => {
      const stored = JSON.parse(JSON.stringify(one));
      expect(unpack(packed(one, trace, calls))).toEqual({ journey: stored, trace, calls });
    }),
  );
});

test.each([pack, packAsIs])('instants are packed as numbers by %o, also those in objects', (packed) => {
  const at = new Date('2026-11-23T08:00:00.000Z');
  const journey = {
    receivedAt: at,
    intent: { at, lastAppeal: null, marker: { field: 'closeloop' } },
    alsoKnownAs: ['a'],
  };
  const stored = {
    ...journey,
    receivedAt: 1_795_420_800_000,
    intent: { ...journey.intent, at: 1_795_420_800_000 },
  };
  expect(unpack(packed(journey, [])).journey).toEqual(stored);
  expect(journey.receivedAt).toBe(at);
  expect(journey.intent.at).toBe(at);
});

test.each([
  ['as they are packed', (journey: object) => unpack(pack(journey, [])).journey],
  ['as texts, which earlier versions have packed', (journey: object): unknown => JSON.parse(JSON.stringify(journey))],
])('instants of a journey are read %s', (_how, stored) => {
  const at = new Date('2026-11-23T08:00:00.123Z');
  const journey = Journey.parse({
    ...{ id: '7.1', source: 'support', recordId: '7', state: 'asked', closing: 'r0' },
    ...{ receivedAt: at, updatedAt: at, closedAt: at, dueAt: at, askedAt: at },
    intent: { token: 't', at, campaign: 12, numAppeals: 1, lastAppeal: at, searchAfter: at },
    answer: { grade: 5, comment: null, seenAt: at, version: 1 },
  });
  expect(Journey.parse(stored(journey))).toEqual(journey);
});

test('calls in the form of another version are left out, and the journey is read', () => {
  const packed = packAsIs({ state: 'asked', calls: [{ path: '/of/next/year' }] }, []);
  expect(unpack(packed)).toEqual({ journey: { state: 'asked' }, trace: [], calls: [] });
});

test('what is packed as it is can be read by whoever inflates', () => {
  const packed = packAsIs({ state: 'creating', values: { Store: 'Võru 🌲' } }, [{ at: new Date(5), text: 'received' }]);
  const text = '{"state":"creating","values":{"Store":"Võru 🌲"},"trace":[[5,"received"]]}';
  expect(inflateRawSync(packed).toString()).toBe(text);
  expect(packed.length).toBe(Buffer.byteLength(text) + 5);
});

test.each([0xffff - 1, 0xffff, 0xffff + 1, 3 * 0xffff])('a text of %d bytes is packed as it is, too', (length) => {
  const journey = { why: '' };
  journey.why = 'w'.repeat(length - JSON.stringify({ ...journey, trace: [] }).length);
  expect(unpack(packAsIs(journey, []))).toEqual({ journey, trace: [], calls: [] });
});

test('a journey that waits takes a quarter of its text', () => {
  const at = new Date('2026-11-23T08:00:00.000Z');
  const journey = {
    ...{ source: 'support', recordId: '100000', state: 'waiting', receivedAt: at, updatedAt: at, closing: 'r0' },
    ...{
      closedAt: at,
      rule: 'phone team',
      campaign: 14,
      campaignName: 'After a call',
      maxGrade: 5,
      personId: '7100000',
    },
    ...{ contact: { kind: 'phone', value: '+37255512345' }, values: { Store: 'Tallinn', Agent: 'Ann Agent' } },
    ...{ place: { timeZone: 'Europe/Tallinn' }, dueAt: at },
  };
  const texts = [
    'received 2026-11-23T08:00:00.000Z: status SOLVED, was OPEN',
    'rule "phone team", campaign 14',
    'contact: phone',
  ];
  const trace = texts.map((text) => ({ at, text }));
  expect(pack(journey, trace).length).toBeLessThan(JSON.stringify({ ...journey, trace }).length / 4);
});

test.each(['{"state":"asked"}', '', '\u0000\u0001\u0002'])('%j is no packed journey', (text) => {
  expect(() => unpack(Buffer.from(text))).toThrow(SyntaxError);
});
