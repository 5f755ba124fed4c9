import { describe, expect, test } from 'vitest';
import { accountFindings } from '../../../../connectors/hubspot/preflight.ts';
import { checking, findsEach } from '../../../support/connectors/hubspot/checking.ts';
import { hookUrl } from '../../../support/connectors/hubspot/planted.ts';

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

describe('check of the account and what it grants', () => {
  findsEach([
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
    {
      name: 'a missing scope for tickets, once, whatever needs it',
      account: (standin) => standin.changeSettings(without('tickets')),
      finds: [['error', 'accessToken', /no scope tickets/]],
    },
    {
      name: 'a missing scope for reading deals',
      account: (standin) => standin.changeSettings(without('crm.objects.deals.read')),
      finds: [['error', 'accessToken', /no scope crm\.objects\.deals\.read/]],
    },
    {
      name: 'a missing scope for writing deals',
      account: (standin) => standin.changeSettings(without('crm.objects.deals.write')),
      finds: [['error', 'accessToken', /no scope crm\.objects\.deals\.write/]],
    },
    {
      name: 'a missing scope for reading contacts',
      account: (standin) => standin.changeSettings(without('crm.objects.contacts.read')),
      finds: [['error', 'accessToken', /no scope crm\.objects\.contacts\.read/]],
    },
    {
      name: 'a missing scope for writing contacts',
      account: (standin) => standin.changeSettings(without('crm.objects.contacts.write')),
      finds: [['error', 'accessToken', /no scope crm\.objects\.contacts\.write/]],
    },
    {
      name: 'missing scopes for owners and the account, both',
      account: (standin) => standin.changeSettings(without('oauth', 'crm.objects.owners.read')),
      finds: [
        ['error', 'accessToken', /no scope oauth/],
        ['error', 'accessToken', /no scope crm\.objects\.owners\.read/],
      ],
    },
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
      options: { rateLimit: { daily: 18 } },
      finds: [['warning', 'daily quota', /of 18 API calls are left/]],
    },
  ]);

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

  test('calls a common zone the same by any of its names', async () => {
    const findings = accountFindings(
      { portalId: undefined, timeZone: 'America/New_York' },
      { portalId: '1', timeZone: 'US/Eastern' },
    );
    expect(findings).toEqual([]);
  });
});
