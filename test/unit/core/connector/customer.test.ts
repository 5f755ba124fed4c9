import { expect, test } from 'vitest';
import { customerOf, present } from '../../../../core/connector/customer.ts';

const whole = { personId: '7', timeZone: 'Europe/Tallinn', country: 'EE', region: '37', locale: 'et' };

test.each<[what: string, told: Parameters<typeof customerOf>[0], expected: object]>([
  ['all that the vendor tells', whole, whole],
  ['nothing of what is empty', { personId: '', timeZone: null, country: undefined, locale: '' }, {}],
  ['no zone that nobody knows', { ...whole, timeZone: 'Eastern Time' }, { ...whole, timeZone: undefined }],
  ['no region without its country', { personId: '7', region: '37' }, { personId: '7' }],
])('the customer of a record has %s', (_what, told, expected) => {
  expect(customerOf(told)).toEqual(expected);
  expect(Object.values(customerOf(told))).not.toContain(undefined);
});

test('what the vendor gives as null or not at all is not there; anything else is', () => {
  const told: { id: number; name: string | null; group?: string | undefined; tags: null } = {
    id: 0,
    name: '',
    tags: null,
  };
  const { id, name, group }: { id: number; name?: string; group?: string } = present(told);
  expect({ id, name, group }).toEqual({ id: 0, name: '', group: undefined });
  expect(Object.keys(present({ ...told, group: undefined, isVip: false }))).toEqual(['id', 'name', 'isVip']);
});
