import type { TestRedis } from './redis.ts';

/** Nobody listens there. */
const nowhere = 'http://127.0.0.1:9';

export const shopSecret = 'a-long-enough-secret-for-a-test-here';

/** A configuration for processes: the source `shop` tells of each closing by a webhook, and asks `email` in campaign 12. */
export function shopConfiguration(redis: Pick<TestRedis, 'socket'> | { url: string }, serviceUrl: string): string {
  return `
feedback: { baseUrl: "${serviceUrl}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
redis: ${'url' in redis ? redis.url : `{ path: ${redis.socket} }`}
http: { port: 0 }
sources:
  shop:
    connector: webhook
    signature: { kind: token, header: x-secret, secrets: [${shopSecret}] }
    event: { id: id, record: id, closed: "true", shape: $ }
    rules: [{ name: all, campaign: 12, contact: email }]
`;
}

/** A configuration for commands: the source `support` is a Zendesk that none of them calls. `general`: more of it. */
export function deskConfiguration(
  redis: TestRedis,
  { serviceUrl = nowhere, general = '', rule = 'name: all, campaign: 12, contact: requester.email' } = {},
): string {
  return `
feedback: { baseUrl: "${serviceUrl}/api", apiKey: demo-key, timeZone: Europe/Tallinn }
redis: { path: ${redis.socket} }
${general}
sources:
  support:
    connector: zendesk
    subdomain: acme
    clientId: one
    clientSecret: two
    webhookSecrets: [three]
    rules: [{ ${rule} }]
`;
}
