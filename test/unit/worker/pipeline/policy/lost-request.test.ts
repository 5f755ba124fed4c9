import { expect, test } from 'vitest';
import type { ContactRecord } from '../../../../../core/feedback/schemas.ts';
import type { LastAsked } from '../../../../../worker/journey/contacts.ts';
import type { Journey } from '../../../../../worker/journey/journey.ts';
import { lostRequest } from '../../../../../worker/pipeline/policy/lost-request.ts';

const at = (time: string) => new Date(`2026-11-21T${time}Z`);
const ref = 'desk/1.1';
const journey = (attempts?: number): Journey => ({
  id: '1.1',
  source: 'desk',
  recordId: '1',
  state: 'waiting',
  receivedAt: at('10:00:01'),
  updatedAt: at('10:00:01'),
  closing: 'one',
  closedAt: at('10:00:00'),
  ...(attempts !== undefined && { attempts }),
});
type Known = Pick<ContactRecord, 'num_appeals' | 'last_appeal'> | undefined;
const asked = (time: string): Known => ({ num_appeals: 1, last_appeal: at(time) });

const rows: [what: string, journey: Journey, known: Known, lastHere: LastAsked | undefined, found: Date | undefined][] =
  [
    ['nobody ever asked this contact', journey(), undefined, undefined, undefined],
    ['the service has not asked yet', journey(), { num_appeals: 0, last_appeal: null }, undefined, undefined],
    ['it was asked before the closing', journey(), asked('09:57:00'), undefined, undefined],
    ['it was asked since, and nobody here knows', journey(), asked('10:05:00'), undefined, at('10:05:00')],
    ['the two clocks differ', journey(), asked('09:58:30'), undefined, at('09:58:30')],
    [
      'another journey has asked since',
      journey(),
      asked('10:05:00'),
      { at: at('10:05:00'), journey: 'shop/9.1' },
      undefined,
    ],
    [
      'another journey has asked, but before that',
      journey(),
      asked('10:05:00'),
      { at: at('10:02:00'), journey: 'shop/9.1' },
      at('10:05:00'),
    ],
    [
      'the contact was noted as asked by this journey, which does not know',
      journey(),
      undefined,
      { at: at('10:04:00'), journey: ref },
      at('10:04:00'),
    ],
    [
      'another journey has asked since, which had heard from the service of one before it',
      journey(),
      asked('10:05:00'),
      { at: at('10:05:00'), journey: 'shop/9.1', earlier: [{ at: at('10:02:00'), journey: 'elsewhere' }] },
      at('10:02:00'),
    ],
    [
      'another journey has asked since the contact was noted as asked by this one',
      journey(),
      asked('10:05:00'),
      { at: at('10:05:00'), journey: 'shop/9.1', earlier: [{ at: at('10:02:00'), journey: ref }] },
      at('10:02:00'),
    ],
    [
      'an attempt of its own came to nothing',
      journey(1),
      asked('10:05:00'),
      { at: at('10:04:00'), journey: ref },
      undefined,
    ],
  ];
test.each(rows)('a request is looked for first, or not: %s', (_, waiting, known, lastHere, found) => {
  expect(lostRequest(waiting, ref, known, lastHere)?.at).toEqual(found);
});

test('only what the contact was noted with here is more than a suspicion (audit 10)', () => {
  const noted = { at: at('10:04:00'), journey: ref };
  expect(lostRequest(journey(), ref, asked('10:05:00'), undefined)).toMatchObject({ isSuspicion: true });
  expect(lostRequest(journey(), ref, asked('10:05:00'), noted)).toMatchObject({ isSuspicion: false });
});
