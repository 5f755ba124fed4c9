import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineConnector } from '../../../../core/connector/contract.ts';
import { loadConfig } from '../../../../worker/config/config.ts';
import { problemsOf, service } from '../../../support/worker/configs.ts';

const shop = defineConnector({ name: 'shop', settings: z.strictObject({}), open: () => expect.unreachable() });
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

const load = (general: string, action: string, env: Record<string, string> = {}, uses?: 'redis') =>
  loadConfig(
    `${service}
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

const mistakes = (general: string, action: string) =>
  problemsOf(() => load(general, action)).map(
    ({ path, line, message }) => `${line} ${path.replace('sources.main.', '')}: ${message}`,
  );

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

  const noReceiver = 'is no receiver of alerts: there are slack, support-leads';
  test.each([
    [leads, 'notify: [slack, support-lead]', `notify[1]: ${noReceiver}; did you mean "support-leads"?`],
    [leads, 'notify: email', `notify: ${noReceiver}`],
    ['', 'notify: [slack]', 'notify[0]: names a receiver, and alerts names none'],
    [leads, 'notify: []', 'notify: needs at least 1 entry'],
    ['', 'send: warehouse', 'send: names a receiver, and webhooks names none'],
    [warehouse(), 'send: [ware]', 'send[0]: is no receiver of webhooks: there are warehouse'],
  ])('is no mistake but where nobody has that name: %s, %s', (general, action, mistake) => {
    expect(mistakes(general, action)).toEqual([`10 answers[0].do[0].${mistake}`]);
  });

  test.each([
    ['slack: { teams: "https://t.example" }', /^slack: url, slack, teams and email are .*: choose another name$/],
    ['leads: {}', /^leads: must name somebody who is told: url, slack, teams or email$/],
    ['leads: { url: "https://u.example" }', /^leads\.secrets: url and secrets belong together/],
  ])('is described rightly: %s', (receiver, mistake) => {
    const found = mistakes(`alerts: { receivers: { ${receiver} } }`, 'followUp: {}');
    expect(found.map((line) => line.replace('2 alerts.receivers.', ''))).toEqual([expect.stringMatching(mistake)]);
  });
});

describe('a webhook', () => {
  const oneSecret = 'is missing: secret, or secrets while one replaces the other';
  const bareUrl = 'must be like https://host/path, without a name, a password or a #';
  test.each([
    ['no secret', `url: "https://w.example"`, `secret: ${oneSecret}`],
    ['both', `url: "https://w.example", secret: ${secret}, secrets: [${secret}]`, `secret: ${oneSecret}`],
    ['a short secret', 'url: "https://w.example", secret: whsec_YQ==', /^secret: .* base64 of 24 to 64 random bytes$/],
    ['http', `url: "http://w.example", secret: ${secret}`, 'url: must be https; http needs allowPrivate'],
    ['a password', `url: "https://a:b@w.example", secret: ${secret}`, `url: ${bareUrl}`],
    ['another protocol', `url: "ftp://w.example", secret: ${secret}`, `url: ${bareUrl}`],
    [
      'an unknown event',
      `url: "https://w.example", secret: ${secret}, events: [answer.recieved]`,
      /^events\[0\]: must be one of answer\.received, .*, follow-up\.overdue; did you mean "answer\.received"\?$/,
    ],
  ])('is refused with %s', (_, settings, mistake) => {
    const found = mistakes(`webhooks: [{ name: w, ${settings} }]`, 'followUp: {}');
    const expected = typeof mistake === 'string' ? mistake : expect.stringMatching(mistake);
    expect(found.map((line) => line.replace('2 webhooks[0].', ''))).toEqual([expected]);
  });

  test('has a name of its own', () => {
    const one = `{ name: w, url: "https://w.example", secret: ${secret} }`;
    const used = '2 webhooks[1].name: is used by another webhook';
    expect(mistakes(`webhooks: [${one}, ${one}]`, 'followUp: {}')).toEqual([used]);
  });

  test('is known by its name to commands without its secret', () => {
    const text = `webhooks: [{ name: warehouse, url: "$\{URL_OF_IT}", secret: "$\{SECRET_OF_IT}" }]`;
    const { webhooks } = load(text, 'send: warehouse', {}, 'redis');
    expect(webhooks.map(({ name }) => name)).toEqual(['warehouse']);
  });
});
