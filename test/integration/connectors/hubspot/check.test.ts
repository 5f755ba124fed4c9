import { describe, expect, test } from 'vitest';
import { accountFindings } from '../../../../connectors/hubspot/check-account.ts';
import { hubspot } from '../../../../connectors/hubspot/hubspot.ts';
import { settings as hubspotSettings } from '../../../../connectors/hubspot/settings.ts';
import { targetUrlFindings } from '../../../../connectors/hubspot/webhooks.ts';
import type { Finding, PreflightContext } from '../../../../core/connector/contract.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import type { HubspotStandin, HubspotStandinOptions } from '../../../../standins/hubspot/standin.ts';
import { testPorts } from '../../../support/connectors/hubspot/fake-hubspot.ts';
import {
  about,
  addAnswerProperties,
  atAccount,
  furnish,
  given,
  hookUrl,
  rightSettings,
  subscriptions,
  writeBack,
} from '../../../support/connectors/hubspot/planted.ts';

interface Plant {
  name: string;
  /** In the account. */
  account?: (standin: HubspotStandin) => void;
  options?: HubspotStandinOptions;
  settings?: object;
  about?: Partial<PreflightContext>;
  /** Where closeloop listens; null: nobody said. */
  hookUrl?: string | null;
  clock?: () => Date;
  finds: [level: Finding['level'], at: string, words: RegExp][];
}

function rightAccount(standin: HubspotStandin): void {
  furnish(standin);
  addAnswerProperties(standin);
  standin.setWebhook({ url: hookUrl, subscriptions });
}

const checking = ({
  account,
  options,
  settings,
  about: more,
  clock,
  hookUrl: here = hookUrl,
}: Omit<Plant, 'name' | 'finds'>) =>
  atAccount(async ({ standin, source }) => {
    rightAccount(standin);
    account?.(standin);
    const { hookUrl: _, ...rest } = { ...about, ...more };
    const live = { ...rest, ...(here === null ? {} : { hookUrl: here }) };
    const findings = await source({ ...rightSettings, ...settings }, clock).check(live);
    return { findings, calls: standin.callCounts() };
  }, options);

const scopes = [
  'oauth',
  'tickets',
  'crm.objects.deals.read',
  'crm.objects.deals.write',
  'crm.objects.contacts.read',
  'crm.objects.contacts.write',
  'crm.objects.owners.read',
  'crm.objects.feedback_submissions.read',
];
const without = (...lost: string[]) => ({ scopes: scopes.filter((scope) => !lost.includes(scope)) });
const reads = (...path: string[]) => ({ reads: [{ at: 'rules.1.when', path }] });
const replaced = (type: 'tickets' | 'deals' | 'contacts', definition: object) => (standin: HubspotStandin) =>
  void standin.addProperty({ type, name: 'fb_grade', kind: 'number', ...definition });

const plants: Plant[] = [
  // access
  {
    name: 'a token that HubSpot refuses, and says once that nothing else was looked at',
    settings: { accessToken: 'revoked-token' },
    finds: [['error', 'accessToken', /refused \(401\)/]],
  },
  {
    name: 'a HubSpot that does not answer',
    settings: { baseUrl: 'http://127.0.0.1:9' },
    finds: [['error', 'accessToken', /no connection/]],
  },
  {
    name: 'another account than the settings say',
    settings: { portalId: 1 },
    finds: [['error', 'portalId', /account 48211907, the settings say 1/]],
  },
  {
    name: "a zone that isn't the account's",
    settings: { timeZone: 'America/New_York' },
    finds: [['warning', 'timeZone', /Europe\/Tallinn, not America\/New_York/]],
  },
  {
    name: "another app's id",
    settings: { appId: 7, developerApiKey: undefined, publicUrl: hookUrl },
    finds: [['error', 'appId', /app 3190457, the settings say 7/]],
  },
  // scopes
  {
    name: 'a missing scope for tickets, once, whatever needs it',
    account: (standin) => standin.changeSettings(without('tickets')),
    finds: [['error', 'scopes', /no scope tickets/]],
  },
  {
    name: 'a missing scope for reading deals',
    account: (standin) => standin.changeSettings(without('crm.objects.deals.read')),
    finds: [['error', 'scopes', /no scope crm\.objects\.deals\.read/]],
  },
  {
    name: 'a missing scope for writing deals',
    account: (standin) => standin.changeSettings(without('crm.objects.deals.write')),
    finds: [['error', 'scopes', /no scope crm\.objects\.deals\.write/]],
  },
  {
    name: 'a missing scope for reading contacts',
    account: (standin) => standin.changeSettings(without('crm.objects.contacts.read')),
    finds: [['error', 'scopes', /no scope crm\.objects\.contacts\.read/]],
  },
  {
    name: 'a missing scope for writing contacts',
    account: (standin) => standin.changeSettings(without('crm.objects.contacts.write')),
    finds: [['error', 'scopes', /no scope crm\.objects\.contacts\.write/]],
  },
  {
    name: 'missing scopes for owners and the account, both',
    account: (standin) => standin.changeSettings(without('oauth', 'crm.objects.owners.read')),
    finds: [
      ['error', 'scopes', /no scope oauth/],
      ['error', 'scopes', /no scope crm\.objects\.owners\.read/],
    ],
  },
  // pipelines and stages
  {
    name: "a pipeline that doesn't exist",
    settings: { pipelines: ['0', 'default', '77'] },
    finds: [['error', 'pipelines', /no pipeline 77/]],
  },
  {
    name: 'an archived pipeline',
    account: (standin) =>
      standin.addPipeline({
        type: 'tickets',
        id: '88',
        label: 'Old',
        archived: true,
        stages: [{ id: '881', label: 'Done', closed: true }],
      }),
    settings: { pipelines: ['0', 'default', '88'] },
    finds: [['error', 'pipelines', /88 \(Old\) is archived/]],
  },
  {
    name: 'a configured pipeline without a closed stage',
    account: (standin) =>
      standin.addPipeline({ type: 'tickets', id: '88', label: 'Endless', stages: [{ id: '881', label: 'Closed' }] }),
    settings: { pipelines: ['0', 'default', '88'] },
    finds: [['error', 'pipelines', /ticket pipeline 88 \(Endless\) has no closed stage/]],
  },
  {
    name: 'a pipeline whose only closed stage is archived',
    account: (standin) => {
      const stages = [
        { id: '881', label: 'New' },
        { id: '882', label: 'Done', closed: true, archived: true },
      ];
      standin.addPipeline({ type: 'tickets', id: '88', label: 'Endless', stages });
    },
    settings: { pipelines: ['0', 'default', '88'] },
    finds: [['error', 'pipelines', /ticket pipeline 88 \(Endless\) has no closed stage/]],
  },
  {
    name: 'a pipeline without a closed stage that nobody configured, as a warning',
    account: (standin) =>
      standin.addPipeline({ type: 'deals', id: '88', label: 'Endless', stages: [{ id: '881', label: 'Closed' }] }),
    settings: { pipelines: undefined },
    finds: [['warning', 'pipelines', /deal pipeline 88 \(Endless\) has no closed stage/]],
  },
  {
    name: "a stage that doesn't exist",
    settings: { stages: ['4', 'closedwon', '99'] },
    finds: [['error', 'stages', /no stage 99/]],
  },
  {
    name: 'a stage that is open, whatever its label says',
    settings: { stages: ['3', '4', 'closedwon'] },
    finds: [['error', 'stages', /stage 3 \(Waiting on us\) is not a closed one/]],
  },
  {
    name: 'an archived stage, and one of a pipeline that is left out',
    account: (standin) => {
      const stages = [
        { id: '881', label: 'Done', closed: true },
        { id: '882', label: 'Gone', closed: true, archived: true },
      ];
      standin.addPipeline({ type: 'tickets', id: '88', label: 'Used', stages });
      standin.addPipeline({
        type: 'tickets',
        id: '89',
        label: 'Unused',
        stages: [{ id: '891', label: 'X', closed: true }],
      });
    },
    settings: { pipelines: ['0', 'default', '88'], stages: ['4', 'closedwon', '881', '882', '891'] },
    finds: [
      ['error', 'stages', /882 \(Gone\) is archived/],
      ['error', 'stages', /891 \(X\) is in a pipeline that this source leaves out/],
    ],
  },
  {
    name: 'lost deals that ask like won ones',
    settings: { stages: undefined },
    finds: [['warning', 'stages', /lost deals ask .*closedlost/]],
  },
  // the properties that take the answer
  {
    name: "a property that doesn't exist",
    settings: { writeBack: { ...writeBack, comment: 'fb_coment' } },
    finds: [
      ['error', 'writeBack.comment', /tickets have no property fb_coment/],
      ['error', 'writeBack.comment', /deals have no property fb_coment/],
    ],
  },
  {
    name: 'a property of contacts that is archived',
    account: (standin) => standin.archiveProperty({ type: 'contacts', name: 'fb_grade' }),
    finds: [['error', 'writeBack.contact.grade', /fb_grade of contacts is archived/]],
  },
  {
    name: 'a grade property of a type that refuses grades',
    account: replaced('tickets', { kind: 'bool' }),
    finds: [['error', 'writeBack.grade', /fb_grade of tickets is of type bool\/booleancheckbox/]],
  },
  {
    name: 'a grade property of text, as a warning',
    account: replaced('deals', { kind: 'string' }),
    finds: [['warning', 'writeBack.grade', /fb_grade of deals .*average text/]],
  },
  {
    name: 'a date without time for the time of the answer',
    account: (standin) => standin.addProperty({ type: 'tickets', name: 'fb_at', kind: 'date' }),
    finds: [['error', 'writeBack.answeredAt', /fb_at of tickets is of type date\/date/]],
  },
  {
    name: 'a single line for the comment, as a warning',
    account: (standin) => standin.addProperty({ type: 'tickets', name: 'fb_comment', kind: 'string' }),
    finds: [['warning', 'writeBack.comment', /a single line/]],
  },
  {
    name: 'a property that is read-only',
    account: replaced('tickets', { readOnly: true }),
    finds: [['error', 'writeBack.grade', /nobody can write .* read-only/]],
  },
  {
    name: 'a property that HubSpot calculates',
    account: replaced('contacts', { calculated: true }),
    finds: [['error', 'writeBack.contact.grade', /nobody can write .* calculates/]],
  },
  {
    name: 'a choice that lacks some of the grades',
    account: replaced('tickets', { kind: 'enumeration', options: ['1', '2', '3'] }),
    finds: [['error', 'writeBack.grade', /lacks the internal values 4, 5/]],
  },
  {
    name: 'a choice whose internal values differ in small and capital letters',
    account: (standin) =>
      standin.addProperty({
        type: 'deals',
        name: 'fb_status',
        kind: 'enumeration',
        options: ['Answered', 'no_answer'],
      }),
    finds: [['error', 'writeBack.status', /value answered \(it has Answered/]],
  },
  {
    name: 'a choice that hides a grade, as a warning',
    account: replaced('tickets', {
      kind: 'enumeration',
      options: ['1', '2', '3', { value: '4', hidden: true }, '5'],
    }),
    finds: [['warning', 'writeBack.grade', /hides 4:/]],
  },
  {
    name: 'two parts of the answer in one property',
    settings: { writeBack: { ...writeBack, status: 'fb_comment' } },
    finds: [
      [
        'error',
        'writeBack.status',
        /writeBack\.comment and writeBack\.status are the same ticket property, fb_comment/,
      ],
      ['error', 'writeBack.status', /writeBack\.comment and writeBack\.status are the same deal property, fb_comment/],
    ],
  },
  {
    name: 'an answer that would overwrite the stage',
    settings: {
      objects: ['ticket'],
      pipelines: ['0'],
      stages: ['4'],
      writeBack: { ...writeBack, status: 'hs_pipeline_stage' },
    },
    finds: [
      ['error', 'writeBack.status', /would move the ticket/],
      [
        'error',
        'writeBack.status',
        /subscribed to ticket\.propertyChange of hs_pipeline_stage, which closeloop writes/,
      ],
    ],
  },
  // what rules read
  {
    name: "a rule that reads a property that doesn't exist",
    about: reads('ticket', 'properties', 'shop'),
    finds: [['error', 'rules.1.when', /tickets have no property shop/]],
  },
  {
    name: 'a rule that reads a property that nobody asks HubSpot for',
    about: reads('ticket', 'properties', 'hs_resolution'),
    finds: [['error', 'rules.1.when', /ticket\.properties\.hs_resolution is not read/]],
  },
  {
    name: 'a rule that reads a contact property that nobody asks HubSpot for',
    about: reads('contact', 'properties', 'hs_email_optout'),
    finds: [['error', 'rules.1.when', /contact\.properties\.hs_email_optout is not read/]],
  },
  {
    name: "a rule that reads what isn't in a record",
    about: { reads: [...reads('ticket', 'title').reads, ...reads('requester', 'name').reads] },
    finds: [
      ['warning', 'rules.1.when', /ticket has no title/],
      ['warning', 'rules.1.when', /record has no requester/],
    ],
  },
  {
    name: 'a rule that reads deals where there are tickets only',
    settings: { objects: ['ticket'], pipelines: ['0'], stages: ['4'] },
    about: reads('deal', 'amount'),
    finds: [['warning', 'rules.1.when', /reads deal, which is never there/]],
  },
  {
    name: "a listed property that doesn't exist, once, though a rule reads it too",
    settings: { properties: ['store', 'shop'] },
    about: reads('ticket', 'properties', 'shop'),
    finds: [['error', 'properties', /tickets and deals have no property shop/]],
  },
  {
    name: "a listed contact property that doesn't exist",
    settings: { contactProperties: ['plan', 'plann'] },
    finds: [['error', 'contactProperties', /contacts have no property plann/]],
  },
  {
    name: "a contact label that doesn't exist",
    settings: { contactLabel: 72 },
    finds: [['error', 'contactLabel', /type id 72/]],
  },
  // deliveries
  {
    name: 'no address to deliver to',
    hookUrl: null,
    finds: [['error', 'http.publicUrl', /nobody said at which address/]],
  },
  {
    name: 'an address without https',
    hookUrl: 'http://closeloop.example.com/hooks/crm',
    account: (standin) => standin.setWebhook({ url: 'http://closeloop.example.com/hooks/crm', subscriptions }),
    finds: [['error', 'http.publicUrl', /not https/]],
  },
  {
    name: 'an address with a query',
    hookUrl: `${hookUrl}?key=1`,
    account: (standin) => standin.setWebhook({ url: `${hookUrl}?key=1`, subscriptions }),
    finds: [['error', 'http.publicUrl', /query or a fragment/]],
  },
  {
    name: "a stated address that isn't closeloop's own",
    settings: { publicUrl: 'https://proxy.example.com/crm' },
    account: (standin) => standin.setWebhook({ url: 'https://proxy.example.com/crm', subscriptions }),
    finds: [['warning', 'publicUrl', /proxy in between/]],
  },
  {
    name: 'an app without a target',
    account: (standin) => standin.removeWebhook(),
    finds: [['error', 'webhook', /no target URL/]],
  },
  {
    name: 'a target that leads elsewhere',
    account: (standin) => standin.setWebhook({ url: 'https://old.example.com/hooks/crm', subscriptions }),
    finds: [['error', 'webhook', /delivers to https:\/\/old\.example\.com\/hooks\/crm, not here/]],
  },
  {
    name: 'missing subscriptions',
    account: (standin) =>
      standin.setWebhook({ url: hookUrl, subscriptions: subscriptions.filter(({ event }) => event !== 'merge') }),
    finds: [['error', 'webhook', /not subscribed to ticket\.merge, deal\.merge$/]],
  },
  {
    name: 'a paused subscription',
    account: (standin) =>
      standin.setWebhook({
        url: hookUrl,
        subscriptions: subscriptions.map((one) => ({ ...one, active: one.propertyName !== 'dealstage' })),
      }),
    finds: [['error', 'webhook', /deal\.propertyChange of dealstage are paused/]],
  },
  {
    name: 'a subscription to what closeloop writes',
    account: (standin) =>
      standin.setWebhook({
        url: hookUrl,
        subscriptions: [...subscriptions, { event: 'propertyChange', object: 'tickets', propertyName: 'fb_grade' }],
      }),
    finds: [['error', 'writeBack.grade', /ticket\.propertyChange of fb_grade, which closeloop writes/]],
  },
  {
    name: 'a developer key that HubSpot refuses',
    settings: { developerApiKey: 'another-key' },
    finds: [['error', 'developerApiKey', /developerApiKey was refused, .* \(401\)/]],
  },
  {
    name: 'webhooks that nobody can see or has vouched for',
    settings: { developerApiKey: undefined },
    finds: [['warning', 'webhook', /nothing shows that HubSpot delivers here/]],
  },
  {
    name: 'the end of legacy apps coming near',
    clock: () => new Date('2027-03-02T00:00:00Z'),
    finds: [['warning', 'developerApiKey', /end in September 2027/]],
  },
  // what will surprise somebody
  {
    name: "HubSpot's own surveys, answered lately",
    account: (standin) => {
      standin.addFeedback({ at: '2026-11-20T10:00:00Z' });
      standin.addFeedback({ at: '2026-01-20T10:00:00Z' });
    },
    finds: [['warning', 'feedback surveys', /1 answers? to HubSpot's own feedback surveys/]],
  },
  {
    name: 'a day whose calls are nearly used up',
    options: { rateLimit: { daily: 16 } },
    finds: [['warning', 'daily quota', /of 16 API calls are left/]],
  },
];

const oauth = {
  ...rightSettings,
  accessToken: undefined,
  clientId: 'hubspot-client-id',
  clientSecret: 'hubspot-client-secret',
  refreshToken: 'hubspot-refresh-token',
};

describe('check', () => {
  test('finds nothing in an account where everything is right, and changes nothing in it', async () => {
    const { findings, calls } = await checking({});
    expect(findings).toEqual([]);
    expect(Object.keys(calls).filter((call) => !call.startsWith('GET '))).toEqual([
      'POST /oauth/v2/private-apps/get/access-token-info',
      'POST /crm/objects/{version}/feedback_submissions/search',
      'POST /crm/objects/{version}/deals/batch/update',
      'POST /crm/objects/{version}/contacts/batch/update',
    ]);
  });

  test('of tickets without anything to write needs no scope for deals or for writing', async () => {
    const { findings } = await checking({
      settings: {
        objects: ['ticket'],
        pipelines: ['0'],
        stages: ['4'],
        writeBack: {},
        developerApiKey: undefined,
        publicUrl: hookUrl,
      },
      account: (standin) =>
        standin.changeSettings({
          scopes: ['oauth', 'tickets', 'crm.objects.contacts.read', 'crm.objects.owners.read'],
        }),
    });
    expect(findings).toEqual([]);
  });

  test.each(plants)('finds $name', async ({ finds, ...plant }) => {
    const { findings } = await checking(plant);
    expect(findings.map(({ level, at, problem }) => [level, at, problem])).toEqual(
      finds.map(([level, at, words]) => [level, at, expect.stringMatching(words)]),
    );
    for (const { remedy } of findings) expect(remedy).toMatch(/\w/);
  });

  test('looks at nothing else that needs a scope which is missing', async () => {
    const { calls } = await checking({ account: (standin) => standin.changeSettings(without('tickets')) });
    expect(Object.entries(calls).filter(([call]) => call.includes('tickets'))).toEqual([
      ['GET /crm/pipelines/{version}/tickets', 1],
    ]);
  });

  test('finds nothing wrong with a paused subscription to what closeloop writes', async () => {
    const paused = { event: 'propertyChange', object: 'tickets', propertyName: 'fb_grade', active: false } as const;
    const { findings } = await checking({
      account: (standin) => standin.setWebhook({ url: hookUrl, subscriptions: [...subscriptions, paused] }),
    });
    expect(findings).toEqual([]);
  });

  test('goes on where a look fails, and tells of it among the rest', async () => {
    const { findings } = await checking({
      account: (standin) => {
        standin.faults.add({ method: 'GET', path: '/crm/pipelines/.*/tickets', status: 502 });
        standin.faults.add({ method: 'GET', path: '/crm/owners/', then: 'cut' });
        standin.archiveProperty({ type: 'deals', name: 'fb_at' });
      },
    });
    expect(findings.map(({ at }) => at)).toEqual(['the ticket pipelines', 'the owners', 'writeBack.answeredAt']);
  });

  test('calls a common zone the same by any of its names', async () => {
    const findings = accountFindings(
      { portalId: undefined, timeZone: 'America/New_York' },
      { portalId: '1', timeZone: 'US/Eastern' },
    );
    expect(findings).toEqual([]);
  });

  test('says nothing of two addresses on this machine, where a stand-in delivers to closeloop', async () => {
    const hookUrl = 'http://127.0.0.1:8080/hooks/crm';
    const { findings } = await checking({
      hookUrl,
      account: (standin) => standin.setWebhook({ url: hookUrl, subscriptions }),
    });
    expect(findings).toEqual([]);
  });

  test("finds this machine's address where the real HubSpot is to deliver", () => {
    const settings = hubspotSettings.parse({ accessToken: 'pat-made-up', webhookSecrets: ['s'] });
    expect(targetUrlFindings(settings, 'https://localhost/hooks/crm')).toMatchObject([
      { level: 'error', at: 'http.publicUrl', problem: expect.stringContaining("can't reach") },
    ]);
  });

  test('takes generic subscriptions for the classic ones', async () => {
    const { findings } = await checking({
      account: (standin) => standin.setWebhook({ url: hookUrl, form: 'generic', subscriptions }),
    });
    expect(findings).toEqual([]);
  });

  test('finds nothing with OAuth either, and a wrong app id by introspection', async () => {
    expect((await checking({ settings: oauth })).findings).toEqual([]);
    const wrong = { ...oauth, appId: 7, developerApiKey: undefined, publicUrl: hookUrl };
    expect((await checking({ settings: wrong })).findings).toMatchObject([{ level: 'error', at: 'appId' }]);
  });

  test('finds access that the account took away, and a wrong client secret', async () => {
    const revoked = await checking({ settings: oauth, account: (standin) => standin.oauth.revoke() });
    expect(revoked.findings).toMatchObject([
      {
        level: 'error',
        at: 'refreshToken',
        problem: expect.stringContaining('reconnect the app'),
        remedy: expect.stringContaining('nothing else'),
      },
    ]);
    const wrong = await checking({ settings: { ...oauth, clientSecret: 'another' } });
    expect(wrong.findings).toMatchObject([
      { at: 'refreshToken', problem: expect.stringContaining('check clientId and clientSecret') },
    ]);
  });

  test('finds that there is no key to keep a refresh token with', () =>
    atAccount(async ({ standin, url }) => {
      rightAccount(standin);
      const { ports } = testPorts();
      const set = () => Promise.reject(new CloseloopError('set secretsKey in the configuration', { kind: 'config' }));
      const source = hubspot.open(given({ baseUrl: url, ...oauth }), { ...ports, vault: { ...ports.vault, set } });
      expect(await source.check?.(about)).toMatchObject([
        { level: 'error', at: 'refreshToken', problem: 'set secretsKey in the configuration' },
      ]);
    }));

  test('tells nobody a secret', async () => {
    const secrets =
      /hubspot-token|hubspot-client-secret|hubspot-developer-key|another-key|revoked-token|hubspot-refresh/;
    for (const plant of plants) expect(JSON.stringify((await checking(plant)).findings)).not.toMatch(secrets);
  });
});
