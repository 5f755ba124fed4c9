import { expect, test } from 'vitest';
import { withHolidays } from '../../../../worker/config/with-holidays.ts';
import { toyConfig } from '../../../support/worker/configs.ts';

const holidaysOf = (policy: string) => withHolidays(toyConfig({ general: `policy: { ${policy} }` }), 'c.yaml');

test('the calendar is opened where the policy wants it, and not otherwise', async () => {
  expect((await holidaysOf('')).holidays).toBe(undefined);
  const { holidays } = await holidaysOf('holidays: { country: estonia }');
  expect(holidays).toMatchObject({ country: 'EE' });
  expect(holidays?.calendar.of('EE', undefined)?.on('2026-02-24')).toBe('Independence Day');
});

test.each([
  ['country: Estland', /policy\.holidays\.country.* must be a country: its ISO code, like EE, or its English name/],
  ['country: KP', /policy\.holidays\.country: no public holidays of KP are known/],
  ['country: DE, region: Bavaria', /policy\.holidays\.region: must be one of BB \(Brandenburg\), .*BY \(Bayern\)/],
  ['country: EE, region: Harjumaa', /policy\.holidays\.region: EE has no regions with holidays of their own/],
  ['region: BY', /policy\.holidays\.country/],
])('a place whose holidays nobody knows is a mistake: %s', async (holidays, message) => {
  await expect(async () => holidaysOf(`holidays: { ${holidays} }`)).rejects.toThrow(message);
});
