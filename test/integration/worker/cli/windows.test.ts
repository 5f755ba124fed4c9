import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { windows } from '../../../../worker/cli/windows.ts';
import { testFolder } from '../../../support/folder.ts';
import { startService } from '../../../support/service.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';
import { printed } from '../../../support/worker/cli/commands.ts';

/** What the command prints of these rules; campaign 13 is e-mail from 09:00 to 20:00, 14 is text messages. */
async function drawn(rules: object[], options: Partial<Parameters<typeof windows>[0]> = {}, policy: object = {}) {
  const feedback = await startService();
  const dir = testFolder();
  const config = join(dir, 'closeloop.yaml');
  const sources = { toy: { connector: 'toy', secret: 'good', rules } };
  const account = { baseUrl: `${feedback.url}/api`, apiKey: 'demo-key', timeZone: 'Europe/Tallinn' };
  writeFileSync(config, JSON.stringify({ feedback: account, policy, sources }));
  const usual = { config, data: dir, connectors: [new ToyVendor().builtIn], weeks: 1, from: '2026-03-23', json: false };
  const { code, out } = await printed(() => windows({ ...usual, ...options }));
  return { code, lines: stripVTControlCharacters(out).trimEnd().split('\n') };
}

const workdays = { from: '10:00', until: '22:00', days: ['mon', 'tue', 'sun'], zone: 'recipient' };
const texts = { name: 'texts', campaign: 14, contact: 'customer.phone', window: workdays };

test('windows draws a week, with the hours that all windows leave open and the change of the clocks', async () => {
  const { code, lines } = await drawn([texts]);
  expect(code).toBe(0);
  expect(lines.slice(0, 4)).toEqual([
    'toy, rule "texts": campaign 14 Phone team (sms)',
    '  campaign 14 sends at any hour Europe/Tallinn',
    '  the rule sends 10:00–22:00 mon, tue, sun Europe/Tallinn',
    '  text messages go out 08:00–21:00 Europe/Tallinn',
  ]);
  const bar = `${'·'.repeat(20)}${'█'.repeat(22)}${'·'.repeat(6)}`;
  expect(lines.slice(-7)).toEqual([
    `Mon 03-23   ${bar}  10:00–21:00`,
    `Tue 03-24   ${bar}  10:00–21:00`,
    ...['Wed 03-25', 'Thu 03-26', 'Fri 03-27', 'Sat 03-28'].map((day) => `${day}   ${'·'.repeat(48)}  closed`),
    `Sun 03-29   ${bar}  10:00–21:00  clocks go forward: 03:00 becomes 04:00`,
  ]);
});

test('… on the clock of a recipient elsewhere, with the account’s beside it', async () => {
  const mail = { name: 'mail', campaign: 13, contact: 'customer.email' };
  const { lines } = await drawn([mail, texts], { rule: 'mail', zone: 'America/New_York' });
  expect(lines[0]).toMatch(/^toy, rule "mail"/);
  // From 8 to 29 March clocks are an hour nearer to each other.
  expect(lines.slice(-7)[0]).toMatch(/^Mon 03-23 .* 03:00–14:00 \(09:00–20:00 Europe\/Tallinn\)$/);
  expect(lines.slice(-7)[6]).toMatch(/^Sun 03-29 .* 02:00–13:00 \(09:00–20:00 Europe\/Tallinn\)$/);
});

test('… with public holidays, of the country of the zone or of the settings; not for a rule that asks on them', async () => {
  const mail = { name: 'mail', campaign: 13, contact: 'customer.email' };
  const easter = { from: '2026-04-03', rule: 'mail' };
  const policy = { holidays: { country: 'EE' } };
  const { lines } = await drawn([mail], easter, policy);
  expect(lines).toContain('  nobody is asked on public holidays in EE, Europe/Tallinn');
  expect(lines.slice(-7).map((line) => line.replaceAll(/[·█]/g, ''))).toEqual([
    'Fri 04-03     closed  public holiday in EE: Good Friday',
    'Sat 04-04     09:00–20:00',
    'Sun 04-05     closed  public holiday in EE: Easter Sunday',
    ...['Mon 04-06', 'Tue 04-07', 'Wed 04-08', 'Thu 04-09'].map((day) => `${day}     09:00–20:00`),
  ]);
  const inLatvia = await drawn([mail], { ...easter, zone: 'Europe/Riga' }, policy);
  expect(inLatvia.lines.slice(-7)[3]).toMatch(/^Mon 04-06 .* closed {2}public holiday in LV: Easter Monday$/);
  const latvian = await drawn([mail], { ...easter, country: 'Latvia' }, policy);
  expect(latvian.lines).toEqual(inLatvia.lines);
  // Where people live by several clocks the account's is drawn, with their holidays.
  const inTheStates = await drawn([mail], { from: '2026-07-03', rule: 'mail', country: 'US' }, policy);
  expect(inTheStates.lines.slice(-7)[0]).toMatch(/^Fri 07-03 .* closed {2}public holiday in US: Independence Day/);
  const always = await drawn([{ ...mail, holidays: 'ask' }], easter, policy);
  expect(always.lines.join()).not.toMatch(/holiday|closed/);
});

test('… for machines', async () => {
  const swapped = { ...texts, window: { from: '20:00', until: '09:00' } };
  const { lines } = await drawn([swapped], { json: true });
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      source: 'toy',
      rule: 'texts',
      campaign: 14,
      zone: 'Europe/Tallinn',
      warnings: ['its window asks at night, from 20:00 to 09:00 the next morning'],
      days: expect.arrayContaining([
        {
          date: '2026-03-23',
          weekday: 'mon',
          open: [
            { from: '2026-03-23T06:00:00.000Z', until: '2026-03-23T07:00:00.000Z' },
            { from: '2026-03-23T18:00:00.000Z', until: '2026-03-23T19:00:00.000Z' },
          ],
        },
      ]),
    }),
  ]);
});

test('… and ends with 1 where a rule never may ask, or its campaign is not there', async () => {
  const never = { ...texts, window: { from: '21:00', until: '23:00', zone: 'recipient' } };
  expect(await drawn([never])).toMatchObject({ code: 1 });
  expect(await drawn([{ ...texts, campaign: 999 }])).toMatchObject({ code: 1 });
});

test.each([
  [{ rule: 'nobody' }, 'There is no such rule; there are toy: "texts".'],
  [{ zone: 'Mordor' }, '--zone "Mordor" is not a time zone like America/New_York'],
  [{ country: 'Mordor' }, '--country "Mordor" is not a country like US or Estonia'],
  [{ from: 'monday' }, /^--from must be a day like \d{4}-/],
])('windows %o is a mistake', async (options, message) => {
  await expect(drawn([texts], options)).rejects.toThrow(message);
});
