import { expect, test } from 'vitest';
import { secretVariable } from '../../../../worker/cli/secret-variables.ts';

/** A configuration with these secrets of two sources; `<NAME>` is a variable. */
const file = (support: string, sales = '["<SALES>"]'): string =>
  `
feedback: { apiKey: "<FEEDBACK>" }
sources:
  support:
    connector: zendesk
    webhookSecrets: ${support}   # once <FIRST>, in a comment
  sales-desk: { connector: zendesk, webhookSecrets: ${sales}, developerSecret: plain }
`.replaceAll(/<(\w+)>/g, (_, name) => `\${${name}}`);

const own = 'SUPPORT_WEBHOOK_SECRET';
test.each([
  ['the one that the setting names', file('["<FIRST>"]'), 'support', 'webhookSecrets', 'FIRST'],
  ['the first of two', file('["<FIRST>", "<SECOND>"]'), 'support', 'webhookSecrets', 'FIRST'],
  ["the source's own where the setting names none", file('[plain]'), 'support', 'webhookSecrets', own],
  ["the source's own where it is a part of a text", file('["a<FIRST>"]'), 'support', 'webhookSecrets', own],
  ["the source's own where another source names it", file('["<A>"]', '["<A>"]'), 'support', 'webhookSecrets', own],
  ["that source's own then", file('["<A>"]', '["<A>"]'), 'sales-desk', 'webhookSecrets', 'SALES_DESK_WEBHOOK_SECRET'],
  ["the source's own where something else has it", file('["<FEEDBACK>"]'), 'support', 'webhookSecrets', own],
  ['not cut where it is no list', file('[a]'), 'sales-desk', 'developerSecret', 'SALES_DESK_DEVELOPER_SECRET'],
  ['the name itself where that is no setting', file('[a]'), 'support', 'TOY_SECRET', 'TOY_SECRET'],
])('the variable for a secret is %s', (_name, text, source, name, expected) => {
  expect(secretVariable(text, source, name)).toBe(expected);
});
