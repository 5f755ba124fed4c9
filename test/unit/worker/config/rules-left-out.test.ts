import { expect, test } from 'vitest';
import { builtIn } from '../../../../connectors/built-in.ts';
import { loadConfig } from '../../../../worker/config/config.ts';
import { schemaText } from '../../../../worker/config/schema.ts';

const connectors = await Promise.all(builtIn.map(({ load }) => load()));
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const load = (event: string, more = '', text = secret) =>
  loadConfig(
    `feedback: { baseUrl: "https://feedback.example.com/api", apiKey: key, timeZone: Europe/Tallinn }
sources:
  surveys:
    connector: webhook
    signature: { kind: standard, secrets: ["${text}"] }
    event: { ${event} }
    ${more}`,
    { env: {}, connectors, uses: 'redis' },
  );

test.each([
  ['survey events', 'survey: {}'],
  ['erasures', 'record: data.id, erase: { when: type = "forget" }'],
])('a source of %s alone asks nobody, and needs no rules', (_, event) => {
  expect(load(event).sources).toMatchObject([{ name: 'surveys', rules: [] }]);
  expect(load(event, 'rules: []').sources).toMatchObject([{ rules: [] }]);
});

test('rules that it has nevertheless are read and checked', () => {
  expect(load('survey: {}', 'rules: [{ name: all, campaign: 12, contact: email }]').sources[0]?.rules).toHaveLength(1);
  expect(() => load('survey: {}', 'rules: [{ name: all }]')).toThrow(/rules\[0\]\.campaign: is missing/);
});

test.each([
  ['closings', 'record: data.id, closed: type = "done"'],
  ['closings and survey events', 'record: data.id, closed: type = "done", survey: {}'],
  ['grades', 'record: data.id, graded: { when: type = "rated", grade: data.grade }'],
])('a source of %s needs them', (_, event) => {
  expect(() => load(event)).toThrow(/sources\.surveys\.rules: is missing/);
  expect(() => load(event, 'rules: []')).toThrow(/sources\.surveys\.rules: needs at least one rule/);
});

test('a variable that is not set where a command does not need it changes nothing about that', () => {
  const variable = `\${${'NOT_SET'}}`;
  expect(load('survey: {}', '', variable).sources).toMatchObject([{ rules: [] }]);
});

test('editors are told the same', () => {
  const schema = JSON.parse(schemaText(connectors));
  const sources: { title: string; required: string[] }[] = schema.properties.sources.additionalProperties.oneOf;
  const without = sources.filter(({ required }) => !required.includes('rules')).map(({ title }) => title);
  expect(without).toEqual(['webhook']);
});
