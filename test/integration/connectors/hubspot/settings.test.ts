import { describe, expect, test } from 'vitest';
import { hubspot } from '../../../../connectors/hubspot/hubspot.ts';
import { minimal } from '../../../support/connectors/hubspot/fake-hubspot.ts';

describe('the settings', () => {
  const rows: [why: string, settings: object][] = [
    ['an empty access token', { accessToken: ' ' }],
    ['three secrets', { webhookSecrets: ['a', 'b', 'c'] }],
    ['plain http to another machine', { baseUrl: 'http://hubspot.example.com' }],
    ['a host that only begins like this machine', { baseUrl: 'http://127.0.0.1.example.com' }],
    ['a label in place of a property name', { writeBack: { grade: 'Feedback grade' } }],
    ['an unknown object', { objects: ['company'] }],
    ['an unknown key', { webhookSecret: 'x' }],
    ['an unknown zone', { timeZone: 'Mars/Olympus' }],
    ['no credentials', { accessToken: undefined }],
    ['OAuth without its refresh token', { accessToken: undefined, clientId: 'a', clientSecret: 'b' }],
    ['two kinds of credentials', { clientId: 'a', clientSecret: 'b', refreshToken: 'c' }],
    ['a piece of the other kind', { refreshToken: 'c' }],
    ['two parts of an answer in one property', { writeBack: { grade: 'feedback', comment: 'feedback' } }],
    ['two parts in one property of the contact', { writeBack: { contact: { grade: 'last', comment: 'last' } } }],
    ['"no answer" with nowhere to say it', { writeBack: { grade: 'feedback_grade', noAnswer: true } }],
  ];
  test.each(rows)('refuse %s', (_, settings) => {
    expect(hubspot.settings.safeParse({ ...minimal, ...settings }).success).toBe(false);
  });

  test('take the least there is, and ids as numbers or text', () => {
    expect(
      hubspot.settings.parse({ ...minimal, appId: 3190457, portalId: '48211907', baseUrl: 'http://127.0.0.1:9000/' }),
    ).toEqual({
      ...minimal,
      appId: '3190457',
      portalId: '48211907',
      baseUrl: 'http://127.0.0.1:9000',
      objects: ['ticket'],
      properties: [],
      contactProperties: [],
      historyPerCall: 50,
      writeBack: { answers: {}, note: false, contact: {}, noAnswer: false, settle: 0 },
    });
  });
});

describe('the account', () => {
  const oauth = { clientId: 'app-1', clientSecret: 'b', refreshToken: 'first', webhookSecrets: ['s'] };
  const account = (settings: object) => hubspot.account(hubspot.settings.parse(settings));

  test('is the token, unreadably', () => {
    expect(account(minimal)).toMatch(/^[0-9a-f]{16}$/);
    expect(account(minimal)).not.toBe(account({ ...minimal, accessToken: 'pat-other' }));
  });

  test('is the app in its portal, or the app with the token of the configuration', () => {
    expect(account({ ...oauth, portalId: 48211907 })).toBe('app-1-48211907');
    expect(account({ ...oauth, portalId: 48211907, refreshToken: 'another' })).toBe('app-1-48211907');
    expect(account(oauth)).toMatch(/^[0-9a-f]{16}$/);
  });
});
