// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own notation
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineConnector } from '../../../../core/connector/contract.ts';
import { type Config, loadConfig } from '../../../../worker/config/config.ts';
import { testPorts } from '../../../support/connectors/zendesk/ports.ts';
import { service as feedback, problemsOf } from '../../../support/worker/configs.ts';

const settings = z.strictObject({
  account: z.string().min(1),
  secrets: z.array(z.string().min(1)).min(1).max(2),
  pages: z.int().default(1),
  writeBack: z.strictObject({ grade: z.int().optional() }).optional(),
});
const shop = defineConnector({
  name: 'shop',
  settings,
  account: ({ account }) => account,
  // Opened, it throws what it was opened with.
  open: (parsed) => expect.fail(JSON.stringify(parsed)),
});
const desk = defineConnector({ name: 'desk', settings: z.strictObject({}), open: () => expect.unreachable() });
const env = { KEY: 'k-1234', SECRET: '98765', EMPTY: '', PORT: '9000', ZONE: 'Europe/Tallinn' };

const load = (text: string, variables: Record<string, string> = env) =>
  loadConfig(text, { env: variables, connectors: [shop, desk], file: 'c.yaml' });

/** What the first source would be opened with. */
function settingsOf({ sources: [source] }: Config): unknown {
  try {
    source?.open(testPorts().ports);
  } catch (error) {
    return JSON.parse(error instanceof Error ? error.message : '');
  }
  return expect.fail('it was opened');
}

const problems = (text: string, variables?: Record<string, string>) => problemsOf(() => load(text, variables));
const rule = '{ name: all, campaign: 12, contact: requester.phone }';
const source = (rules: string, more = '') =>
  `sources: { main: { connector: shop, account: a, secrets: [s], rules: [${rules}]${more === '' ? '' : `, ${more}`} } }`;
const whole = (general: string, sources = source(rule)) => [feedback, general, sources].join('\n');
const inSource = (settings: string) => whole('', source(rule, settings));
const ruled = (rules: string) => whole('', source(rules));
const withRule = (more: string) => ruled(`{ name: all, campaign: 12, contact: requester.phone, ${more} }`);

describe('a whole configuration', () => {
  test('it comes out with durations in milliseconds, shares as numbers and defaults filled in', () => {
    const config = load(`
feedback:
  baseUrl: https://feedback.example.com/api
  apiKey: \${KEY}
  timeZone: \${ZONE}
redis: redis://h:6379/2
http: { port: "\${PORT}", publicUrl: https://closeloop.example.com/ }
sources:
  main-1:
    connector: shop
    account: acct-\${SECRET}
    secrets: ["\${SECRET}"]
    pages: \${SECRET}
    rules:
      - name: phone team
        when: ticket.group.name = "Phone" and $not("no_survey" in ticket.tags)
        campaign: 12
        contact: [requester.phone, requester.email]
        fields:
          Store: ticket.fields.store
        delay: 2h
        window: { from: "09:00", until: "20:00", days: [mon, sat], zone: recipient }
        throttle: 30d
        sample: 50%
        again: each closing
      - { name: others, campaign: 13, contact: requester.email }
    writeBack:
      grade: 360001
`);
    expect(config).toEqual({
      written: expect.objectContaining({ feedback: expect.objectContaining({ apiKey: '${KEY}' }) }),
      feedback: expect.objectContaining({ apiKey: 'k-1234', timeZone: 'Europe/Tallinn' }),
      redis: { url: 'redis://h:6379/2' },
      poll: { every: 600_000, headStart: 120_000 },
      webhooks: [],
      http: { host: '127.0.0.1', port: 9000, publicUrl: 'https://closeloop.example.com' },
      admin: { host: '127.0.0.1' },
      dashboard: {
        host: '127.0.0.1',
        trustProxy: [],
        users: [],
        sessions: { idle: 3_600_000, longest: 43_200_000 },
      },
      collect: { every: 300_000, fullEvery: 86_400_000 },
      lookup: { after: 30_000 },
      retry: { for: 604_800_000 },
      retention: { journeys: 400 * 86_400_000 },
      expireAfter: 14 * 86_400_000,
      marker: 'closeloop',
      policy: { sms: { from: '08:00', until: '21:00' }, actions: { perRecord: 3 } },
      contactLists: new Map(),
      dryRun: false,
      sources: [
        {
          name: 'main-1',
          storedAs: 'main-1',
          connector: shop,
          account: 'acct-98765',
          ownDomains: [],
          settleMs: 0,
          answers: [],
          policy: {},
          open: expect.any(Function),
          rules: [
            {
              name: 'phone team',
              when: 'ticket.group.name = "Phone" and $not("no_survey" in ticket.tags)',
              campaign: 12,
              contact: ['requester.phone', 'requester.email'],
              fields: { Store: 'ticket.fields.store' },
              delay: 7_200_000,
              window: { from: '09:00', until: '20:00', days: ['mon', 'sat'], zone: 'recipient' },
              throttle: { period: 30 * 86_400_000, otherwise: 'drop', prefer: 'first' },
              sample: 0.5,
              again: 'each closing',
            },
            { name: 'others', campaign: 13, contact: 'requester.email', fields: {}, again: 'never' },
          ],
        },
      ],
    });
    const given = { account: 'acct-98765', secrets: ['98765'], pages: 98765, writeBack: { grade: 360001 } };
    expect(settingsOf(config)).toEqual(given);
  });

  const redis: [written: string, expected: object | undefined, variables?: Record<string, string>][] = [
    ['', undefined],
    ['', { url: 'redis://env' }, { REDIS_URL: 'redis://env' }],
    ['redis: redis://file', { url: 'redis://file' }, { REDIS_URL: 'redis://env' }],
    ['redis: { url: "rediss://u:p@h" }', { url: 'rediss://u:p@h' }],
    ['redis: { path: /run/redis.sock }', { path: '/run/redis.sock' }],
    ['redis: { cluster: ["redis://a", "redis://b"] }', { cluster: ['redis://a', 'redis://b'] }],
    [
      'redis: { sentinel: { name: main, nodes: ["redis://a:26379"], password: p } }',
      { sentinel: { name: 'main', nodes: ['redis://a:26379'], password: 'p' } },
    ],
  ];
  test.each(redis)('it takes %j as the Redis %j', (written, expected, variables = {}) => {
    expect(load(whole(written), variables).redis).toEqual(expected);
  });

  const samples: [written: string, share: number][] = [
    ['50%', 0.5],
    ['"12.5 %"', 0.125],
    ['0.25', 0.25],
    ['100%', 1],
    ['0', 0],
    ['1', 1],
  ];
  test.each(samples)('it reads a sample of %s as %d', (written, share) => {
    expect(load(withRule(`sample: ${written}`)).sources[0]?.rules[0]?.sample).toBe(share);
  });

  test('it leaves $${NAME} alone but for a $, and variables in comments', () => {
    const text = whole(`marker: $\${KEY} # \${NOBODY_HAS_THIS}`);
    expect(load(text).marker).toBe('${KEY}');
  });
});

const mistakes: [what: string, text: string, path: string, message: RegExp][] = [
  ['a missing section', source(rule), 'feedback', /^is missing: a section/],
  ['no sources', feedback, 'sources', /name at least one source/],
  ['an unknown setting', whole('colect: {}'), 'colect', /did you mean "collect"\?/],
  ['an unknown setting deeper down', whole('http: { prot: 1 }'), 'http.prot', /did you mean "port"\?/],
  ['a setting of no known kind', whole('zzzzzz: 1'), 'zzzzzz', /there are sources, feedback, redis/],
  ['a sensitive service address', `${feedback.replace('https', 'http')}\n${source(rule)}`, 'feedback.baseUrl', /https/],
  ['an unset variable called constructor', whole('marker: ${constructor}'), 'marker', /constructor is not set$/],
  ['an unset variable', whole('marker: ${NOBODY}'), 'marker', /^the environment variable NOBODY is not set$/],
  ['an empty variable', whole('marker: x${EMPTY}'), 'marker', /^the environment variable EMPTY is empty$/],
  ['a variable that is no number', whole('http: { port: "${KEY}" }'), 'http.port', /^must be a number$/],
  ['a duration without a unit', whole('expireAfter: "14"'), 'expireAfter', /must be a duration like/],
  ['a period of nothing', whole('collect: { every: 0s }'), 'collect.every', /longer than 0/],
  ['no address of a proxy', whole('dashboard: { trustProxy: [proxy] }'), 'dashboard.trustProxy[0]', /an address like/],
  [
    'no range of proxies',
    whole('dashboard: { trustProxy: [10.0.0.0/33] }'),
    'dashboard.trustProxy[0]',
    /an address like/,
  ],
  [
    'a page that other machines reach',
    whole('dashboard: { host: 0.0.0.0, publicUrl: "https://a.example" }'),
    'dashboard.users',
    /must name somebody where "host" is an address that other machines reach/,
  ],
  ['a port out of range', whole('http: { port: 70000 }'), 'http.port', /at most 65535/],
  ['a public address without TLS', whole('http: { publicUrl: "http://a.example" }'), 'http.publicUrl', /https address/],
  ['a Redis of another kind', whole('redis: http://x'), 'redis', /redis:\/\/ or rediss:\/\//],
  ['a Redis with a word for its database', whole('redis: redis://h:6379/main'), 'redis', /is no address like redis:/],
  ['a Redis with a password as it is', whole('redis: "redis://:a#b@h:6379"'), 'redis', /# is written %23/],
  ['a Redis that is a number', whole('redis: 5'), 'redis', /must be a text or a section/],
  ['a Redis with a wrong key', whole('redis: { pth: /x }'), 'redis.pth', /did you mean "path"\?/],
  ['an empty cluster', whole('redis: { cluster: [] }'), 'redis.cluster', /at least 1 entry/],
  ['a bad source name', whole('', source(rule).replace('main', 'Main_1')), 'sources.Main_1', /small letters/],
  [
    'an unknown connector',
    whole('', source(rule).replace('shop', 'shpo')),
    'main.connector',
    /one of shop, desk; did you mean "shop"\?/,
  ],
  ['no connector', whole('', 'sources: { main: { rules: [] } }'), 'main.connector', /is missing: one of shop, desk/],
  ['a source that is a text', whole('', 'sources: { main: shop }'), 'sources.main', /must be a section/],
  ['no rules', ruled(''), 'main.rules', /at least one rule/],
  ["a mistake in the connector's settings", inSource('pages: many'), 'main.pages', /must be a number/],
  ['an unknown setting of the connector', inSource('acount: a'), 'main.acount', /did you mean "account"\?/],
  ['a misspelt name of ours among them', inSource('rulse: a'), 'main.rulse', /did you mean "rules"\?/],
  ['an unknown inner setting', inSource('writeBack: { grad: 1 }'), 'main.writeBack.grad', /did you mean "grade"\?/],
  ['two rules of one name', ruled(`${rule}, ${rule}`), 'main.rules[1].name', /another rule/],
  ['a text for a campaign', ruled('{ name: all, campaign: "12", contact: a }'), 'rule.campaign', /must be a number/],
  ['a broken expression', withRule('when: "a = ("'), 'rule.when', /a = \(.*near character/],
  ['a broken expression of a field', withRule('fields: { Store: "a.(" }'), 'rule.fields.Store', /mistake/],
  ['one in a list', withRule('sample: 1').replace('requester.phone', '[a, "b["]'), 'rule.contact[1]', /mistake/],
  ['no contact', ruled('{ name: x, campaign: 1 }'), 'rule.contact', /is missing/],
  ['a share above all', withRule('sample: 120%'), 'rule.sample', /share like 50%/],
  ['a share that looks like a percentage', withRule('sample: 50'), 'rule.sample', /share like 50%/],
  ['an hour that no clock shows', withRule('window: { from: "25:00" }'), 'rule.window.from', /time of day/],
  ['a day in another language', withRule('window: { days: [mon, esm] }'), 'rule.window.days[1]', /one of mon, tue/],
  ['no day at all', withRule('window: { days: [] }'), 'rule.window.days', /at least one day/],
  ['a wrong zone', withRule('window: { zone: acount }'), 'rule.window.zone', /did you mean "account"\?/],
  ['a wrong again', withRule('again: each-closing'), 'rule.again', /did you mean "each closing"\?/],
  ['a file that is a list', '- a', '', /begins with feedback: and sources:/],
  ['a name that stands twice', whole('marker: a\nmarker: b'), '', /stands twice/],
  ['a tab', 'feedback:\n\tapiKey: x', '', /tab/],
  ['an unquoted variable in brackets', whole('http: { port: ${PORT} }'), '', /needs quotes/],
  ['an alias without an anchor', whole('marker: *nobody'), '', /alias/],
];

describe('a mistake', () => {
  test.each(mistakes)('it is reported once, with its path: %s', (_, text, short, message) => {
    const path = short.replace(/^rule/, 'sources.main.rules[0]').replace(/^main/, 'sources.main');
    const found = problems(text).filter((problem) => message.test(problem.message));
    expect(found).toEqual([expect.objectContaining({ path })]);
  });

  const alone = mistakes.filter(([, , path]) => path.startsWith('rule') || path.startsWith('http'));
  test.each(alone)('it brings no others with it: %s', (_, text) => {
    expect(problems(text)).toHaveLength(1);
  });

  test('it comes with all others, in the order of the file, with line and column', () => {
    const text = `feedback:
  baseUrl: https://feedback.example.com/api
  apiKey: \${A}\${B}
  timezone: Europe/Tallinn
sources:
  main:
    connector: shop
    secrets: [""]
    rules:
      - name: one
        campaign: 0
        contact: a
`;
    expect(problems(text, {}).map(({ line, column, path }) => `${line}:${column} ${path}`)).toEqual([
      '1:1 feedback.timeZone',
      '3:3 feedback.apiKey',
      '3:3 feedback.apiKey',
      '4:3 feedback.timezone',
      '6:3 sources.main.account',
      '8:15 sources.main.secrets[0]',
      '11:9 sources.main.rules[0].campaign',
    ]);
    expect(() => load(text, {})).toThrow(
      /^c\.yaml has 7 mistakes:\n {2}c\.yaml:1:1: feedback\.timeZone: is missing[\s\S]*\n {2}c\.yaml:11:9: .*more than 0$/,
    );
  });

  test('it is a configuration error to whoever asks', () => {
    expect(() => load('')).toThrow(expect.objectContaining({ advice: { kind: 'config' }, outcome: 'never-sent' }));
  });

  test('it says that a wrong address came from REDIS_URL', () => {
    expect(problems(whole(''), { REDIS_URL: 'http://pw@x' })).toEqual([
      { path: 'redis', message: '(from REDIS_URL) must begin with redis:// or rediss://' },
    ]);
  });

  const secret = 'hunter2hunter2';
  const leaks: [where: string, text: string][] = [
    ['the Redis address', whole('redis: "http://:${S}@h"')],
    ['the public address', whole('http: { publicUrl: "${S}" }')],
    ['a number', whole('http: { port: "${S}" }')],
    ['a choice', withRule('again: "${S}"')],
    ['an expression', withRule('when: "a = (${S}"')],
    ['the connector', whole('', source(rule).replace('shop', '"${S}"'))],
    ["the connector's settings", inSource('pages: "${S}"')],
    ['the key of the service', whole('').replace('apiKey: key', 'apiKey: "${S} "')],
  ];
  test.each(leaks)('it never shows a secret in %s', (_, text) => {
    const found = problems(text, { S: secret });
    expect(found.length).toBeGreaterThan(0);
    expect(JSON.stringify(found)).not.toContain(secret);
  });

  test('it never quotes a broken file', () => {
    expect(JSON.stringify(problems(`feedback:\n  apiKey: "${secret}\n  x: [${secret}`))).not.toContain(secret);
  });
});

test('a custom field that JavaScript would lose is told, not left out (audit 34)', () => {
  expect(problems(withRule('fields: { __proto__: requester.name, constructor: requester.name }'))).toMatchObject([
    { path: 'sources.main.rules[0].fields.__proto__', message: expect.stringMatching(/JavaScript reserves/) },
  ]);
});

describe('what YAML passes over in silence is told with its line and what to do (audit 31)', () => {
  const tagged = /^a value that begins with ! has a YAML tag.*in quotes$/;
  const rows: [what: string, text: string, line: number, message: RegExp][] = [
    ['an unknown tag', whole('marker: !env MARKER'), 2, tagged],
    [
      'a password that begins with !',
      whole('redis: { sentinel: { name: m, nodes: ["redis://a"], password: !s3cret } }'),
      2,
      tagged,
    ],
    ['a tag on a section', whole('http: !local { port: 1 }'), 2, tagged],
    ['a known tag that makes something else of a text', whole('marker: !!binary aGVsbG8='), 2, tagged],
    ['a merge key', whole('x: &x { port: 1 }\nhttp: { <<: *x }'), 3, /merge key .* is not taken/],
    ['the directive of another YAML', `%YAML 1.1\n---\n${whole('')}`, 1, /remove it, the file is read as YAML 1.2/],
    ['an unknown directive', `%FOO bar\n---\n${whole('')}`, 1, /remove it/],
    ['a second document', `${whole('')}\n---\nmarker: other`, 4, /only one is read/],
    ['a name that stands twice', whole('marker: a\nmarker: b'), 3, /stands twice/],
    ['a name that stands twice, once in quotes', withRule('fields: { 5: a, "5": b }'), 3, /stands twice/],
    ['a name that is a section', whole('{ a: b }: c'), 2, /a name must be a text/],
  ];
  test.each(rows)('%s', (_, text, line, message) => {
    const found = problems(text);
    expect(found).toContainEqual(expect.objectContaining({ line, message: expect.stringMatching(message) }));
    expect(JSON.stringify(found)).not.toContain('s3cret');
  });

  test('tags of plain values, and anchors for whole sections and numbers, are taken', () => {
    const config = load(
      whole('marker: !!str 5\nhttp: &h { port: &p "${PORT}" }\npoll: { every: 10m }', source(rule, 'pages: *p')),
    );
    expect([config.marker, config.http.port]).toEqual(['5', 9000]);
    expect(settingsOf(config)).toMatchObject({ pages: 9000 });
  });
});

describe('variables that a command has no use for', () => {
  const text = [
    'feedback: { baseUrl: "https://feedback.example.com/api", apiKey: "${NO_KEY}", timeZone: Europe/Tallinn }',
    'alerts: { url: "https://alerts.example.com", secrets: ["${NO_ALERT}"] }',
    `sources: { main: { connector: shop, account: a, secrets: ["\${NO_HOOK}"], rules: [${rule}] } }`,
  ].join('\n');
  const loaded = (uses: 'redis' | 'service', more = '', variables = {}) =>
    loadConfig(`${more}\n${text}`, { env: variables, connectors: [shop, desk], file: 'c.yaml', uses });

  test('what only looks at what Redis keeps needs neither secrets nor the key of the service (audit 37)', () => {
    const config = loaded('redis');
    expect(config.sources).toMatchObject([{ name: 'main', rules: [{ name: 'all' }] }]);
    expect(config.alerts).toBeUndefined();
    expect(config.sources[0]?.connector.name).toBe('shop');
  });

  test('what only calls the service needs its key, and no other variable (audit 37)', () => {
    expect(loaded('service', 'redis: "${NO_REDIS}"', { NO_KEY: 'k' }).feedback.apiKey).toBe('k');
    expect(() => loaded('service')).toThrow(
      /1 mistake[\s\S]*feedback\.apiKey: the environment variable NO_KEY is not set$/,
    );
  });

  test('the key that seals what Redis keeps is needed to look at it (audit 37)', () => {
    expect(() => loaded('redis', 'redis: redis://h:6379')).toThrow(/1 mistake[\s\S]*NO_KEY is not set$/);
    expect(() => loaded('redis', 'secretsKey: "${NO_SECRET}"')).toThrow(
      /secretsKey: the environment variable NO_SECRET/,
    );
    const key = Buffer.alloc(32).toString('base64');
    expect(loaded('redis', `redis: redis://h:6379\nsecretsKey: ${key}`).sources).toHaveLength(1);
  });

  test('everything else needs them all, and other mistakes are told as ever (audit 37)', () => {
    expect(problems(text, {})).toHaveLength(3);
    expect(() => loaded('redis', 'retentoin: 5d')).toThrow(/retentoin/);
  });
});
