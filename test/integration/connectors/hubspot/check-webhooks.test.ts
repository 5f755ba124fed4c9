import { describe, expect, test } from 'vitest';
import { settings as hubspotSettings } from '../../../../connectors/hubspot/settings.ts';
import { targetUrlFindings } from '../../../../connectors/hubspot/webhooks.ts';
import { checking, findsEach } from '../../../support/connectors/hubspot/checking.ts';
import { hookUrl, subscriptions } from '../../../support/connectors/hubspot/planted.ts';

describe('check of deliveries', () => {
  findsEach([
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
  ]);

  test('finds nothing wrong with a paused subscription to what closeloop writes', async () => {
    const paused = { event: 'propertyChange', object: 'tickets', propertyName: 'fb_grade', active: false } as const;
    const { findings } = await checking({
      account: (standin) => standin.setWebhook({ url: hookUrl, subscriptions: [...subscriptions, paused] }),
    });
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
});
