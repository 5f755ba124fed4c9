import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Finding, PreflightContext, SetupStep } from '../../../../core/connector/contract.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import { check } from '../../../../worker/cli/check.ts';
import { envFileOf, readEnvFile } from '../../../../worker/cli/env-file.ts';
import { setup } from '../../../../worker/cli/setup.ts';
import { lastCheck } from '../../../../worker/preflight/last-check.ts';
import { startLoop } from '../../../support/loop.ts';
import { ToyVendor } from '../../../support/toy-connector.ts';
import { printed, sayings, useCommands } from '../../../support/worker/cli/commands.ts';

const { beside, dir, fresh, redis } = useCommands();

describe('check and setup', () => {
  test('two sources of one account are told of together, with the remedy (audit twice)', async () => {
    const source = fresh();
    const loop = await startLoop(redis, { source, others: ['twin'] });
    const { code, rows } = await printed(() => check(beside(loop)));
    const at = `sources.${source}, sources.twin`;
    const remedy = expect.stringMatching(/into one of them/);
    expect(rows).toMatchObject([{ findings: expect.arrayContaining([expect.objectContaining({ at, remedy })]) }]);
    expect(code).toBe(0);
  });

  const finding: Finding = { level: 'error', at: 'webhook', problem: 'there is none', remedy: 'make one' };

  test('it tells the connector what it must know, and reports everything found at once', async () => {
    const vendor = new ToyVendor();
    const told: PreflightContext[] = [];
    vendor.check = async (about) => {
      told.push(about);
      return [finding];
    };
    const loop = await startLoop(redis, {
      source: fresh(),
      vendor,
      rule: '{ name: all, campaign: 14, contact: customer.email }',
    });
    const { code, rows } = await printed(() => check(beside(loop)));
    expect(code).toBe(1);
    expect(rows).toMatchObject([{ errors: 2, findings: expect.arrayContaining([expect.objectContaining(finding)]) }]);
    expect(JSON.stringify(rows)).toMatch(/campaign 14 sends text messages, and no contact is a phone number/);
    expect(told[0]).toMatchObject({
      grades: expect.arrayContaining([1, 5]),
      reads: [{ at: 'rules[0].contact[0]', path: ['customer', 'email'] }],
    });
    const words = await printed(() => check({ ...beside(loop), json: false }));
    expect(words.out).toMatch(/error.*webhook[\s\S]*→ make one[\s\S]*2 errors/);
    const remembered = await lastCheck(redis.handle.client);
    expect(remembered?.findings).toContainEqual(expect.objectContaining(finding));
  });

  test('a bug of the connector is told as one, at once: nobody looks at the vendor, or waits for it', async () => {
    const vendor = new ToyVendor();
    const bug = new CloseloopError('The connector "toy" fails', { kind: 'transient', bug: true });
    vendor.check = () => Promise.reject(bug);
    vendor.setup = () => Promise.reject(bug);
    const loop = await startLoop(redis, { source: fresh(), vendor });
    const { rows } = await printed(() => check(beside(loop)));
    const told = { at: 'the vendor', problem: bug.message, remedy: 'correct the connector' };
    expect(rows).toMatchObject([{ findings: expect.arrayContaining([expect.objectContaining(told)]) }]);
    const { code, said } = await sayings(() => setup({ ...beside(loop), yes: true }));
    expect([code, said.join('\n')]).toEqual([1, expect.stringMatching(/fails; correct the connector/)]);
    expect(said.join('\n')).not.toMatch(/goes on in/);
  });

  test('it finds rules that no closing reaches, and campaigns in which nobody can be asked or graded', async () => {
    const rule = `{ name: all, campaign: 12, contact: customer.email }
      - { name: web, when: ticket.store = "Web", campaign: 16, contact: customer.email }
      - { name: given, when: ticket.store = "Given", campaign: 15, contact: customer.email }`;
    const loop = await startLoop(redis, { source: fresh(), rule });
    const { code, rows } = await printed(() => check(beside(loop)));
    expect(code).toBe(1);
    const found: Finding[] = Object(rows[0]).findings;
    expect(found.map(({ level, at, problem }) => `${level} ${at}: ${problem}`)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^error rules\[1\]: campaign 16 is a widget's: nobody can be asked in it/),
        'warning rules[1]: rule "web" asks about nothing: rule "all" above takes every closing',
        'warning rules[2]: rule "given" asks about nothing: rule "all" above takes every closing',
        'warning rules[2].campaign: campaign 15 is external: nothing is sent to anybody, and this source brings no grades',
      ]),
    );
    expect(loop.told).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        message: 'a rule is never chosen',
        fields: expect.objectContaining({ why: expect.stringMatching(/"web"/) }),
      }),
    );
  });

  test('it compares the questions of writeBack.answers with the surveys of the service (audit 35)', async () => {
    const vendor = new ToyVendor();
    vendor.surveyQuestions = ['711', '718', '7110'];
    const loop = await startLoop(redis, { source: fresh(), vendor });
    const { code, rows } = await printed(() => check(beside(loop)));
    expect(code).toBe(1);
    const about = Object(rows[0]).findings.filter(({ at }: Finding) => at.startsWith('writeBack.answers'));
    expect(about).toEqual([
      {
        source: loop.store.source,
        level: 'warning',
        at: 'writeBack.answers.718',
        problem: expect.stringMatching(/question 718 \("Did you find everything\?"\), or its survey, is not active/),
        remedy: expect.any(String),
      },
      {
        source: loop.store.source,
        level: 'error',
        at: 'writeBack.answers.7110',
        problem: 'no survey of the service has a question 7110',
        remedy: expect.stringMatching(/^name one of 711 "How likely.*717 "At what time\?"$/),
      },
    ]);
  });

  test('what is the same for every rule is said once, with all of their places (audit 37)', async () => {
    const rule = (name: string, campaign: number) =>
      `{ name: ${name}, campaign: ${campaign}, contact: customer.email }`;
    const loop = await startLoop(redis, {
      source: fresh(),
      rule: `${rule('one', 12)}\n      - ${rule('two', 12)}\n      - ${rule('three', 17)}`,
    });
    const { rows } = await printed(() => check(beside(loop)));
    const warnings = Object(rows[0]).findings.filter(({ problem }: Finding) => /no custom field/.test(problem));
    expect(warnings).toMatchObject([
      {
        at: 'rules[0].campaign, rules[1].campaign, rules[2].campaign',
        problem: expect.stringMatching(/^campaigns 12, 17 have no custom field "closeloop"/),
      },
    ]);
  });

  test('it warns of campaigns that have no field to mark a test request with', async () => {
    const rule = `{ name: all, campaign: { en: 12, et: 120, fi: 121 }, contact: customer.email }`;
    const general = 'policy: { test: { email: me@acme.com } }';
    const loop = await startLoop(redis, { source: fresh(), rule, general });
    const campaign = { account: 'acme', type: 'mixed' } as const;
    loop.feedback.standin.addCampaign({ ...campaign, id: 120, name: 'Marked', customFields: [{ name: 'Test' }] });
    loop.feedback.standin.addCampaign({ ...campaign, id: 121, name: 'Unmarked' });
    const { rows } = await printed(() => check(beside(loop)));
    const found = Object(rows[0]).findings.filter(({ problem }: Finding) => /no custom field "Test"/.test(problem));
    expect(found).toMatchObject([
      {
        level: 'warning',
        at: 'rules[0].campaign.en',
        problem: expect.stringMatching(/campaign 12 has no custom field/),
      },
      { level: 'warning', at: 'rules[0].campaign.fi', problem: expect.stringMatching(/campaign 121 has no/) },
    ]);
  });

  const wrong: [what: string, campaign: string, found: RegExp][] = [
    ['a campaign that is not there', '999', /no campaign 999/],
    ['a campaign of one language that is not there', '{ en: 12, et: 999 }', /no campaign 999/],
    ['a campaign that is not active', '19', /not active/],
    ['a field that the campaign lacks', '12, fields: { Shop: ticket.store }', /no custom field ..Shop/],
    ['a required field left out', '13', /requires the custom field/],
  ];
  test.each(wrong)('it finds %s', async (_, campaign, found) => {
    const rule = `{ name: all, contact: customer.email, campaign: ${campaign} }`;
    const loop = await startLoop(redis, { source: fresh(), rule });
    const { code, out } = await printed(() => check(beside(loop)));
    expect([code, out]).toEqual([1, expect.stringMatching(found)]);
  });

  test.each([
    ['warns where grades given elsewhere have no campaign of type external to go to', 12, true, 1],
    ['is content with an external campaign', 15, true, 0],
    ['asks for none where no grades are given elsewhere', 12, false, 0],
  ])('it %s', async (_, campaign, bringsExternalGrades, warnings) => {
    const vendor = new ToyVendor();
    vendor.bringsExternalGrades = bringsExternalGrades;
    const rule = `{ name: all, campaign: ${campaign}, contact: customer.email }`;
    const loop = await startLoop(redis, { source: fresh(), vendor, rule });
    const { out } = await printed(() => check(beside(loop)));
    expect(out.match(/no rule names a campaign of type external/g) ?? []).toHaveLength(warnings);
  });

  test('where nothing keeps it from working it says what shows whether the rules fit', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    const { code, out } = await printed(() => check({ ...beside(loop), json: false }));
    const last = expect.stringMatching(/\n"closeloop preview --since \d{4}-\d\d-\d\d" shows which closings[^\n]*\n$/);
    expect([code, out]).toEqual([0, last]);
  });

  test('it refuses a Redis that a start refuses, and tells what a start warns of', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    const { client } = redis.handle;
    const { rows } = await printed(() => check(beside(loop)));
    const lossy = { level: 'warning', at: 'redis', problem: expect.stringMatching(/appendfsync is everysec/) };
    expect(Object(rows[0]).findings).toContainEqual(expect.objectContaining(lossy));
    onTestFinished(async () => void (await client.config('SET', 'maxmemory-policy', 'noeviction')));
    await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const complaint = vi.spyOn(console, 'warn');
    await expect(printed(() => check(beside(loop)))).rejects.toThrow(/maxmemory-policy allkeys-lru.*noeviction/);
    expect(complaint).not.toHaveBeenCalled();
  });

  test.each([
    ['with --strict warnings alone have an exit code of their own', true, false, 3],
    ['without it they have none', false, false, 0],
    ['an error counts before them', true, true, 1],
  ])('%s', async (_, strict, hasError, expected) => {
    const vendor = new ToyVendor();
    vendor.check = async () => [{ ...finding, level: hasError ? 'error' : 'warning' }];
    const loop = await startLoop(redis, { source: fresh(), vendor });
    expect((await printed(() => check({ ...beside(loop), strict }))).code).toBe(expected);
  });

  test('an address of the service without /api is told with the one that would be right', async () => {
    const loop = await startLoop(redis, { source: fresh() });
    const { config, ...rest } = beside(loop);
    writeFileSync(config, readFileSync(config, 'utf8').replace(`${loop.feedback.url}/api`, loop.feedback.url));
    const { code, rows } = await printed(() => check({ config, ...rest }));
    const remedy = `feedback.baseUrl does not end with /api, as the service's address does: write ${loop.feedback.url}/api`;
    expect(rows).toMatchObject([
      { findings: expect.arrayContaining([expect.objectContaining({ level: 'error', remedy })]) },
    ]);
    expect(code).toBe(1);
  });

  test.each([
    ['a key that the service refuses', /demo-key/, 'wrong-key', ['feedback.apiKey'], /answered 401/],
    [
      'another service than before',
      /127\.0\.0\.1:\d+/,
      '127.0.0.1:9',
      ['feedback', 'feedback'],
      /belong to the service at/,
    ],
  ])('%s is a finding like others, once, and hides none', async (_, from, to, places, problem) => {
    const vendor = new ToyVendor();
    vendor.check = async () => [finding];
    const loop = await startLoop(redis, { source: fresh(), vendor });
    // In a Redis of its own, whose data are not sealed with the key of the service.
    const own = { ...beside(loop), data: join(dir, loop.store.source) };
    writeFileSync(own.config, loop.text);
    await printed(() => check(own));
    const mails = '{ server: "smtp://127.0.0.1:9", from: a@example.com, mails: [{ name: x, to: [b@example.com] }] }';
    writeFileSync(own.config, `${loop.text.replace(from, to)}\nreports: ${mails}\n`);
    const { code, rows } = await printed(() => check(own));
    const found: Finding[] = Object(rows[0]).findings;
    expect(found.filter(({ at }) => at.startsWith('feedback')).map(({ at }) => at)).toEqual(places);
    expect(found.map((one) => one.problem)).toContainEqual(expect.stringMatching(problem));
    expect([code, found]).toEqual([1, expect.arrayContaining([expect.objectContaining(finding)])]);
  });

  test.each([
    ['a mistake of the file, with its place', /campaign: 12/, 'campaign: twelve', {}, 'rules[0].campaign', 'mend line'],
    ['what kept it from looking', /^/, '', { source: 'nobody' }, 'check', 'run check again'],
  ])('machines are told %s', async (_, from, to, more, at, remedy) => {
    const loop = await startLoop(redis, { source: fresh() });
    const { config, ...rest } = beside(loop);
    writeFileSync(config, readFileSync(config, 'utf8').replace(from, to));
    const { rows } = await printed(async () => await check({ config, ...rest, ...more }).catch(() => 2));
    const findings = [{ level: 'error', at: expect.stringContaining(at), remedy: expect.stringContaining(remedy) }];
    expect(rows).toMatchObject([{ errors: 1, warnings: 0, findings }]);
  });

  test('it shows the steps, does them, and says nothing is missing the next time', async () => {
    const vendor = new ToyVendor();
    const done: string[] = [];
    vendor.setup = async (): Promise<SetupStep[]> =>
      done.length > 0
        ? []
        : [
            {
              what: 'create the field "Grade"',
              apply: async () => {
                done.push('field');
                return { note: 'done', secrets: { TOY_SECRET: 's3' } };
              },
            },
          ];
    const loop = await startLoop(redis, { source: fresh(), vendor });
    // Nobody can be asked here.
    await expect(setup({ ...beside(loop), yes: false, json: false })).rejects.toThrow(/--yes/);
    const listed = await printed(() => setup({ ...beside(loop), yes: false }));
    const missing = [{ source: loop.store.source, what: 'create the field "Grade"' }];
    expect([listed.code, listed.rows, done]).toEqual([1, [{ missing, done: [] }], []]);
    const first = await printed(() => setup({ ...beside(loop), yes: true, json: false }));
    expect([first.code, first.out]).toEqual([0, expect.stringMatching(/TOY_SECRET is in .*\.env now/)]);
    expect(first.out).not.toContain('s3');
    expect(readEnvFile(envFileOf(beside(loop).config))).toEqual({ TOY_SECRET: 's3' });
    const second = await printed(() => setup({ ...beside(loop), yes: true }));
    expect([second.rows, done]).toEqual([[{ missing: [], done: [] }], ['field']]);
  });

  test.each([
    ['says when nobody knows the grades, as options may be missing then', 999, 1],
    ['says nothing of grades that are known', 12, 0],
  ])('setup %s', async (_, campaign, times) => {
    const rule = `{ name: all, campaign: ${campaign}, contact: customer.email }`;
    const vendor = new ToyVendor();
    vendor.setup = async () => [];
    const loop = await startLoop(redis, { source: fresh(), rule, vendor });
    const { said } = await sayings(() => setup({ ...beside(loop), yes: true }));
    expect(said.filter((line) => /grades.*"closeloop check"/.test(line))).toHaveLength(times);
  });
});

test.each([
  [
    'says that webhooks were not looked at without an address',
    '',
    /Webhooks were not looked at[\s\S]*everything else is/,
  ],
  [
    'says nothing of webhooks that it looked at',
    ', publicUrl: "https://cl.example.com"',
    /^[^W]*: everything is there/,
  ],
])('setup %s', async (_, publicUrl, expected) => {
  const vendor = new ToyVendor();
  vendor.setup = async () => [];
  const { config, ...rest } = beside(await startLoop(redis, { source: fresh(), vendor }));
  writeFileSync(
    config,
    readFileSync(config, 'utf8').replace('port: 0', (port) => port + publicUrl),
  );
  const { said } = await sayings(() => setup({ config, ...rest, yes: true }));
  expect(said.join('\n')).toMatch(expected);
});

describe('setup of several sources', () => {
  const throttled = (retryAfterMs: number) =>
    new CloseloopError('Toy: too many calls (429)', { kind: 'transient', throttled: true, retryAfterMs });
  const step = (what: string, done: string[], failures: Error[] = []): SetupStep => ({
    what,
    apply: async () => {
      const failure = failures.shift();
      if (failure) throw failure;
      done.push(what);
      return {};
    },
  });

  test('it waits, and says so, where a vendor wants it to, when looking and when doing (audit 39)', async () => {
    const vendor = new ToyVendor();
    const done: string[] = [];
    const looks = [throttled(1_200), throttled(20)];
    const steps = [step('create the field', done, [throttled(20)]), step('create the webhook', done)];
    vendor.setup = async () => {
      const failure = looks.shift();
      if (failure) throw failure;
      return steps;
    };
    const loop = await startLoop(redis, { source: fresh(), vendor });
    const { code, said } = await sayings(() => setup({ ...beside(loop), yes: true }));
    expect([code, done]).toEqual([0, ['create the field', 'create the webhook']]);
    expect(said.join('\n')).toMatch(/goes on in 2 s \(Toy: too many calls \(429\)\)/);
  });

  test.each([
    ['wants a longer wait than anybody sits through', throttled(3_600_000)],
    ['refuses access', new CloseloopError('Toy: the token was revoked', { kind: 'config' })],
  ])('it sets the others up where one vendor %s, and its exit code tells (audit 39)', async (_, error) => {
    const vendor = new ToyVendor();
    const done: string[] = [];
    let looked = 0;
    vendor.setup = async () => {
      if (looked++ === 0) throw error;
      return [step('create the field', done)];
    };
    const [source, other] = [fresh(), fresh()];
    const loop = await startLoop(redis, { source, others: [other], vendor });
    const { code, rows } = await printed(() => setup({ ...beside(loop), yes: true }));
    expect(code).toBe(1);
    expect(rows).toEqual([
      {
        missing: [],
        done: [{ source: other, what: 'create the field' }],
        failed: [{ source, why: error.message }],
      },
    ]);
  });
});

describe('a secret that the vendor tells', () => {
  /** A source whose setup tells a secret, and fails then. */
  async function telling(step: 'setup' | 'recover' = 'setup') {
    const vendor = new ToyVendor();
    vendor[step] = async (): Promise<SetupStep[]> => [
      { what: 'create the webhook', apply: async () => ({ secrets: { TOY_SECRET: 's3' } }) },
      { what: 'create the field', apply: async () => Promise.reject(new Error('no right to create fields')) },
    ];
    const loop = await startLoop(redis, { source: fresh(), vendor });
    onTestFinished(() => loop.close());
    return beside(loop);
  }
  async function setUp(options: Awaited<ReturnType<typeof telling>>) {
    let out = '';
    const { code, said } = await sayings(async () => {
      const ended = await printed(() => setup({ ...options, yes: true }));
      out = ended.out;
      return ended.code;
    });
    return { code, said: said.join('\n'), out };
  }

  test.each([
    ['that is set up', 'setup'],
    ['that was set up before, and whose secret was lost', 'recover'],
  ] as const)(
    'is written beside the configuration, also when a later step fails, and not shown: %s',
    async (_, step) => {
      for (const json of [false, true]) {
        const options = { ...(await telling(step)), json };
        const { code, said, out } = await setUp(options);
        expect([code, said]).toEqual([1, expect.stringMatching(/no right to create fields/)]);
        expect(said + out).not.toContain('s3');
        expect(said + out).toContain('TOY_SECRET');
        expect(readEnvFile(envFileOf(options.config))).toEqual({ TOY_SECRET: 's3' });
      }
    },
  );

  test('is shown this once where the file can not be written, with why', async () => {
    const options = await telling();
    mkdirSync(`${envFileOf(options.config)}.new`);
    for (const json of [false, true]) {
      const { code, out } = await setUp({ ...options, json });
      expect([code, out]).toEqual([1, expect.stringMatching(json ? /TOY_SECRET":"s3"/ : /^TOY_SECRET=s3$/m)]);
      expect(out).toMatch(/could not be written .*put this into the environment yourself/);
    }
  });
});
