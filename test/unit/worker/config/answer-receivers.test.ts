import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineConnector } from '../../../../core/connector/contract.ts';
import { loadConfig } from '../../../../worker/config/config.ts';
import { ConfigError } from '../../../../worker/config/problem.ts';

const shop = defineConnector({ name: 'shop', settings: z.strictObject({}), open: () => expect.unreachable() });
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

const load = (general: string, action: string, env: Record<string, string> = {}, uses?: 'redis') =>
  loadConfig(
    `feedback: { baseUrl: "https://feedback.example.com/api", apiKey: key, timeZone: Europe/Tallinn }
${general}
sources:
  main:
    connector: shop
    rules: [{ name: all, campaign: 12, contact: customer.email }]
    answers:
      - name: unhappy
        do:
          - ${action}`,
    { env, connectors: [shop], ...(uses && { uses }) },
  );

function mistakes(general: string, action: string): string[] {
  try {
    load(general, action);
    return [];
  } catch (error) {
    if (error instanceof ConfigError)
      return error.problems.map(
        ({ path, line, message }) => `${line} ${path.replace('sources.main.', '')}: ${message}`,
      );
    throw error;
  }
}

const leads = 'alerts: { slack: "https://s.example", receivers: { support-leads: { teams: "https://t.example" } } }';
const warehouse = (more = '') =>
  `webhooks: [{ name: warehouse, url: "https://w.example/in", secret: ${secret}${more} }]`;

describe('whom an answer rule tells', () => {
  test.each([
    [leads, 'notify: [support-leads, slack]'],
    [leads, 'notify: slack'],
    [warehouse(), 'send: warehouse'],
    [warehouse(), 'send: [warehouse]'],
  ])('is known: %s, %s', (general, action) => {
    expect(mistakes(general, action)).toEqual([]);
  });

  test.each([
    [
      leads,
      'notify: [slack, support-lead]',
      '10 answers[0].do[0].notify[1]: is no receiver of alerts: there are slack, support-leads; did you mean "support-leads"?',
    ],
    [leads, 'notify: email', '10 answers[0].do[0].notify: is no receiver of alerts: there are slack, support-leads'],
    ['', 'notify: [slack]', '10 answers[0].do[0].notify[0]: names a receiver, and alerts names none'],
    [leads, 'notify: []', '10 answers[0].do[0].notify: needs at least 1 entry'],
    ['', 'send: warehouse', '10 answers[0].do[0].send: names a receiver, and webhooks names none'],
    [warehouse(), 'send: [ware]', '10 answers[0].do[0].send[0]: is no receiver of webhooks: there are warehouse'],
  ])('is no mistake but where nobody has that name: %s, %s', (general, action, mistake) => {
    expect(mistakes(general, action)).toEqual([mistake]);
  });

  test.each([
    [
      'alerts: { receivers: { slack: { teams: "https://t.example" } } }',
      '2 alerts.receivers.slack: url, slack, teams and email are those of alerts themselves: choose another name',
    ],
    [
      'alerts: { receivers: { leads: {} } }',
      '2 alerts.receivers.leads: must name somebody who is told: url, slack, teams or email',
    ],
    [
      'alerts: { receivers: { leads: { url: "https://u.example" } } }',
      '2 alerts.receivers.leads.secrets: url and secrets belong together: what is sent to url is signed',
    ],
  ])('is described rightly: %s', (general, mistake) => {
    expect(mistakes(general, 'followUp: {}')).toEqual([mistake]);
  });
});

describe('a webhook', () => {
  test.each([
    [
      'no secret',
      `{ name: w, url: "https://w.example" }`,
      'webhooks[0].secret: is missing: secret, or secrets while one replaces the other',
    ],
    [
      'both',
      `{ name: w, url: "https://w.example", secret: ${secret}, secrets: [${secret}] }`,
      'webhooks[0].secret: is missing: secret, or secrets while one replaces the other',
    ],
    [
      'a short secret',
      `{ name: w, url: "https://w.example", secret: whsec_YQ== }`,
      'webhooks[0].secret: must be whsec_ and the base64 of 24 to 64 random bytes',
    ],
    [
      'http',
      `{ name: w, url: "http://w.example", secret: ${secret} }`,
      'webhooks[0].url: must be https; http needs allowPrivate',
    ],
    [
      'a password',
      `{ name: w, url: "https://a:b@w.example", secret: ${secret} }`,
      'webhooks[0].url: must be like https://host/path, without a name, a password or a #',
    ],
    [
      'another protocol',
      `{ name: w, url: "ftp://w.example", secret: ${secret} }`,
      'webhooks[0].url: must be like https://host/path, without a name, a password or a #',
    ],
    [
      'an unknown event',
      `{ name: w, url: "https://w.example", secret: ${secret}, events: [answer.recieved] }`,
      'webhooks[0].events[0]: must be one of answer.received, answer.changed, request.created, closing.skipped, follow-up.overdue; did you mean "answer.received"?',
    ],
  ])('is refused with %s', (_, webhook, mistake) => {
    expect(mistakes(`webhooks: [${webhook}]`, 'followUp: {}')).toEqual([`2 ${mistake}`]);
  });

  test('has a name of its own', () => {
    const one = `{ name: w, url: "https://w.example", secret: ${secret} }`;
    expect(mistakes(`webhooks: [${one}, ${one}]`, 'followUp: {}')).toEqual([
      '2 webhooks[1].name: is used by another webhook',
    ]);
  });

  test('is known by its name to commands without its secret', () => {
    const text = `webhooks: [{ name: warehouse, url: "$\{URL_OF_IT}", secret: "$\{SECRET_OF_IT}" }]`;
    const { webhooks } = load(text, 'send: warehouse', {}, 'redis');
    expect(webhooks.map(({ name }) => name)).toEqual(['warehouse']);
  });
});
