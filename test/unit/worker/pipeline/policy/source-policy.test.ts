import { expect, test } from 'vitest';
import { decisionContext } from '../../../../support/worker/pipeline/policy.ts';

const all = `{ name: all, campaign: 12, contact: [customer.email, '"us@acme.ee"', customer.phone] }`;

test('the addresses of a customer stand where the rules find them, unless an expression reads nothing of the record', () => {
  const { customerContacts, customerPaths } = decisionContext(all);
  const sources = [customerContacts, customerPaths].map((list) => list.map(({ source }) => source));
  expect(sources).toEqual([
    ['customer.email', '"us@acme.ee"', 'customer.phone'],
    ['customer.email', 'customer.phone'],
  ]);
});

test("the company's own domains, as the connector knows them, are not asked, unless the policy says so", () => {
  const own = (general?: string) => {
    const { never } = decisionContext(all, { ownDomains: ['acme.ee'], ...(general !== undefined && { general }) });
    return never.ofPerson.map(({ what }) => what);
  };
  expect([own(), own('policy: { askAnyway: [own-domains] }')]).toEqual([['ownDomains: acme.ee'], []]);
});

test('the service adds no delay where a request can carry a date', () => {
  expect(decisionContext(all).serviceAddsDelay).toBe(false);
});
