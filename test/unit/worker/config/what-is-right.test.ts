import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineConnector } from '../../../../core/connector/contract.ts';
import { loadConfig } from '../../../../worker/config/config.ts';
import { problemsOf, service } from '../../../support/worker/configs.ts';

const shop = defineConnector({ name: 'shop', settings: z.strictObject({}), open: () => expect.unreachable() });
const load = (rule: string, env: Record<string, string> = {}) =>
  loadConfig(
    `${service}
sources:
  main:
    connector: shop
    rules:
      - name: all
        contact: customer.email
${rule.replaceAll(/^/gm, '        ')}`,
    { env, connectors: [shop] },
  );

const mistakes = (rule: string) =>
  problemsOf(() => load(rule)).map(({ path, message }) => `${path.replace('sources.main.rules[0].', '')}: ${message}`);

const hours = (from: string, until: string) =>
  `window: must be a section: write { from: "${from}", until: "${until}" }`;
const time = (right: string) => `must be a time of day like "09:00", in quotes: write "${right}"`;
const durations = 'must be a duration like "90s", "15m", "2h", "1h30m" or "30d", of at most ten years';
const list = 'must be a list like [mon, tue, wed, thu, fri]';
const day = 'must be one of mon, tue, wed, thu, fri, sat, sun; did you mean "mon"?';
const campaign = 'campaign: must be a number or one for each language: 12, without quotes, or { en: 12, default: 13 }';

test.each<[written: string, mistake: string]>([
  ['window: 9-20', hours('09:00', '20:00')],
  ['window: 9:00-20:00', hours('09:00', '20:00')],
  ['window: "09:00 – 20:30"', hours('09:00', '20:30')],
  ['window: 9 to 5 pm', hours('09:00', '17:00')],
  ['window: 9', 'window: must be a section like { from: "09:00", until: "20:00" }'],
  ['window: office hours', 'window: must be a section like { from: "09:00", until: "20:00" }'],
  ['window: { from: 9:00 }', `window.from: ${time('09:00')}`],
  ['window: { from: 9 }', `window.from: ${time('09:00')}`],
  ['window: { until: 8pm }', `window.until: ${time('20:00')}`],
  ['window: { until: 12 pm }', `window.until: ${time('12:00')}`],
  ['window: { from: 12am }', `window.from: ${time('00:00')}`],
  ['window: { until: "2030" }', `window.until: ${time('20:30')}`],
  ['window: { until: "24:00" }', `window.until: ${time('00:00')}`],
  ['window: { until: "25:00" }', 'window.until: must be a time of day like "09:00", in quotes'],
  ['window: { until: 13pm }', 'window.until: must be a time of day like "09:00", in quotes'],
  ['window: { days: mon-fri }', `window.days: ${list}`],
  ['window: { days: [Monday] }', `window.days[0]: ${day}`],
  ['campaign: twelve', campaign],
  ['campaign: "12"', campaign],
  ['campaign: [12]', campaign],
  ['campaign: #12', campaign],
  ['campaign: 0', 'campaign: must be more than 0'],
  ['campaign: { en: twelve }', 'campaign.en: must be a number'],
  ['delay: 3 days', `delay: ${durations}: write "3d"`],
  ['delay: 1.5 hours', `delay: ${durations}: write "1h30m"`],
  ['delay: 2h, 30 min', `delay: ${durations}: write "2h30m"`],
  ['delay: 1 day and 2 hours', `delay: ${durations}: write "1d2h"`],
  ['delay: PT90M', `delay: ${durations}: write "1h30m"`],
  ['delay: 30', `delay: ${durations}`],
  ['delay: "30"', `delay: ${durations}`],
  ['delay: 2 months', `delay: ${durations}`],
  ['throttle: 30 days', `throttle: ${durations}: write "30d"`],
  ['cap: 5', 'cap: must be a section (indented lines of "name: value") of hour, day'],
  [
    'when: a == "x"',
    'when: The expression `a == "x"` has a mistake near character 4: The symbol "=" cannot be used as a unary operator. Write "=" for "==": `a = "x"`',
  ],
  ['when: not(a)', 'when: A function begins with $: write $not: `$not(a)`'],
  [
    'fields: { Store: 5 }',
    'fields.Store: must be a text: a fixed number is written "5", and what is always true "true"',
  ],
])('%s is answered with what would be right', (written, mistake) => {
  const rule = written.startsWith('campaign') ? written : `campaign: 12\n${written}`;
  expect(mistakes(rule)).toEqual([mistake]);
});

test.each([
  ['"vip" in tags', /put the whole value in quotes$/],
  ['!tags', /in an expression write \$not\(…\)/],
  ['{{tags}}', /or put the whole value in quotes$/],
])('YAML that an expression has to be quoted for says so: %s', (when, message) => {
  expect(mistakes(`campaign: 12\nwhen: ${when}`)).toContainEqual(expect.stringMatching(message));
});

test('a contact that is true or false is a mistake, as nobody could be asked', () => {
  expect(mistakes('campaign: 12').length).toBe(0);
  expect(mistakes('campaign: 12\ntest: { email: me@acme.com }').length).toBe(0);
  const config = `${service}
sources: { main: { connector: shop, rules: [{ name: all, campaign: 12, contact: [a.phone, b.email or c.email] }] } }`;
  expect(() => loadConfig(config, { env: {}, connectors: [shop] })).toThrow(
    /contact\[1\]: gives true or false, not a contact: write a list, .*: \[b\.email, c\.email\]$/,
  );
});

test('a number may be a variable where there are alternatives to it', () => {
  const variable = (name: string) => `\${${name}}`;
  const config = load(`campaign: ${variable('CAMPAIGN')}\nsample: ${variable('SHARE')}`, {
    CAMPAIGN: '12',
    SHARE: '0.5',
  });
  expect(config.sources[0]?.rules).toMatchObject([{ campaign: 12, sample: 0.5 }]);
});
