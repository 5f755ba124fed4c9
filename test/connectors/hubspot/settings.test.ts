import { describe, expect, test } from 'vitest';
import { hubspot } from '../../../connectors/hubspot/hubspot.ts';
import { minimal } from './fake-hubspot.ts';

describe('the settings', () => {
  const rows: [why: string, settings: object][] = [
    ['an empty access token', { accessToken: ' ' }],
    ['no secret', { webhookSecrets: [] }],
    ['an empty secret', { webhookSecrets: [''] }],
    ['three secrets', { webhookSecrets: ['a', 'b', 'c'] }],
    ['plain http to another machine', { baseUrl: 'http://hubspot.example.com' }],
    ['a host that only begins like this machine', { baseUrl: 'http://127.0.0.1.example.com' }],
    ['a label in place of a property name', { writeBack: { grade: 'Feedback grade' } }],
    ['an unknown object', { objects: ['company'] }],
    ['an unknown key', { webhookSecret: 'x' }],
    ['an unknown zone', { timeZone: 'Mars/Olympus' }],
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
      writeBack: {},
    });
  });
});
