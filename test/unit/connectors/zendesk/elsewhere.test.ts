import { describe, expect, test } from 'vitest';
import { type Elsewhere, placeElsewhere, withPerson } from '../../../../connectors/zendesk/elsewhere.ts';
import type { WriteBack, WriteResult } from '../../../../core/connector/contract.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import { answer } from '../../../support/contract/bench.ts';

const closed: WriteResult = { ok: false, why: 'closed', message: 'It is closed.' };
const ok: WriteResult = { ok: true, findings: [] };
const transient: WriteResult = { ok: false, why: 'error', error: new CloseloopError('busy', { kind: 'transient' }) };
const permanent: WriteResult = { ok: false, why: 'error', error: new CloseloopError('no', { kind: 'permanent' }) };

describe('an answer whose record takes none any more', () => {
  const rows: [name: string, written: WriteResult, first: WriteResult, second: WriteResult, expected: object][] = [
    ['stays where the record took it', ok, ok, ok, ok],
    ['goes to the first place', closed, ok, ok, { ...ok, where: 'place a' }],
    ['goes to the second where the first is closed', closed, closed, ok, { ...ok, where: 'place b' }],
    ['goes to the second where the first refuses it', closed, permanent, ok, { ...ok, where: 'place b' }],
    ['waits for a place that may take it later', closed, transient, ok, transient],
    [
      'stays closed where no place takes it, and says why',
      closed,
      closed,
      permanent,
      { ...closed, message: 'It is closed. a: It is closed. b: no' },
    ],
  ];
  test.each(rows)('%s', async (_name, written, first, second, expected) => {
    const places = [first, second].map((result, n): Elsewhere => {
      const name = n === 0 ? 'a' : 'b';
      return { name, where: `place ${name}`, write: async (items) => items.map(() => result) };
    });
    expect(await placeElsewhere(places, [answer('1')], [written])).toEqual([expected]);
  });

  test('goes nowhere where nobody answered, but to a place that takes that', async () => {
    const seen: string[] = [];
    const place = (name: string, more: Partial<Elsewhere> = {}): Elsewhere => ({
      ...{ name, where: name, ...more },
      async write(items: readonly WriteBack[]) {
        seen.push(name);
        return items.map(() => ok);
      },
    });
    const none = answer('1', { status: 'no-answer', grade: null, comment: null });
    const places = [place('answers'), place('all', { takesNoAnswer: true })];
    expect(await placeElsewhere(places, [none], [closed])).toEqual([{ ...ok, where: 'all' }]);
    expect(seen).toEqual(['all']);
  });
});

describe('an answer that its person gets as well', () => {
  const gone: WriteResult = { ok: false, why: 'not-found', message: 'gone' };
  const told: WriteResult = { ok: true, findings: ['a field'] };
  const rows: [name: string, record: WriteResult, person: WriteResult | undefined, expected: object][] = [
    ['has the result of the record alone where there is no person', told, undefined, told],
    [
      'tells the findings of both, each once',
      told,
      { ok: true, findings: ['a field', 'b'] },
      { ok: true, findings: ['a field', 'b'] },
    ],
    ['waits where the person may take it later', ok, transient, transient],
    ['tells why the person refused it', ok, permanent, { ok: true, findings: ['no'] }],
    ['remarks that the person is gone', ok, gone, { ...ok, remarks: ['nobody there'] }],
    ['fails with its record', closed, gone, closed],
  ];
  test.each(rows)('%s', (_name, record, person, expected) => {
    expect(withPerson(record, person, 'nobody there')).toEqual(expected);
  });
});
