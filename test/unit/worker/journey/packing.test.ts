import { inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pack, packAsIs, unpack } from '../../../../worker/journey/packing.ts';

test.each([pack, packAsIs])('what %o has packed comes out again, and a trace with its times', (packed) => {
  const text = fc.string({ unit: 'binary', maxLength: 300 });
  const line = fc.record({ at: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2200-01-01') }), text });
  const journey = fc.dictionary(
    text.filter((name) => !['trace', '__proto__'].includes(name)),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(journey, fc.array(line), (one, trace) => {
      const stored = JSON.parse(JSON.stringify(one));
      expect(unpack(packed(one, trace))).toEqual({ journey: stored, trace });
    }),
  );
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
  expect(unpack(packAsIs(journey, []))).toEqual({ journey, trace: [] });
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
