import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { connectors } from '../../../connectors/index.ts';
import { loadConfig } from '../../../worker/config/config.ts';

const Section = z.record(z.string(), z.unknown());
const Written = z.looseObject({ sources: z.looseObject({ support: Section.optional() }).optional() });

/** What the examples leave out: a whole configuration of one source. */
const rest = {
  feedback: { baseUrl: 'https://feedback.example.com/api', apiKey: 'k', timeZone: 'Europe/Tallinn' },
  support: {
    connector: 'zendesk',
    subdomain: 'acme',
    clientId: 'id',
    clientSecret: 'secret',
    webhookSecrets: ['secret'],
    writeBack: { grade: 360001 },
    rules: [{ name: 'all', campaign: 12, contact: 'requester.email' }],
  },
};

const page = readFileSync(resolve(import.meta.dirname, '../../../docs/policy.md'), 'utf8');
const examples = [...page.matchAll(/^## (.*)$|```yaml\n([\s\S]*?)```/gm)].reduce(
  ({ title, found }, [, heading, yaml]) =>
    heading === undefined ? { title, found: [...found, { title, yaml: yaml ?? '' }] } : { title: heading, found },
  { title: '', found: [] as { title: string; yaml: string }[] },
).found;

test('the page has examples', () => expect(examples.length).toBeGreaterThan(2));

test.each(examples)('the example of "$title" is taken', ({ yaml }) => {
  const { sources, ...written } = Written.parse(parse(yaml));
  const support = { ...rest.support, ...sources?.support };
  const whole = stringify({ feedback: rest.feedback, ...written, sources: { support } });
  expect(() => loadConfig(whole, { env: {}, connectors })).not.toThrow();
});
