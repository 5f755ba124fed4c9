import { expect, test } from 'vitest';
import { z } from 'zod';
import { baseUrlOf, FeedbackSettings } from '../../../../core/feedback/settings.ts';

const good = { baseUrl: 'https://feedback.example.com/api', apiKey: 'k-1', timeZone: 'Europe/Tallinn' };

test('it fills in what is left out', () => {
  const defaults = { environment: 'production', timeoutMs: 10_000, callsAtOnce: 100 };
  expect(FeedbackSettings.parse(good)).toEqual({ ...good, ...defaults });
});

test.each([
  ['a loopback name', { baseUrl: 'http://localhost:8080/api' }],
  ['a loopback address', { baseUrl: 'http://127.0.0.1:8080/api' }],
  ['any loopback address', { baseUrl: 'http://127.8.9.1/api' }],
  ['a loopback address of version 6', { baseUrl: 'http://[::1]:8080/api' }],
  ['a slash at the end', { baseUrl: 'https://feedback.example.com/api/' }],
  ['the test environment', { environment: 'test', testBaseUrl: 'https://test.example.com/api' }],
])('it takes %s', (_name, part) => expect(FeedbackSettings.safeParse({ ...good, ...part }).error).toBeUndefined());

const wrong: [name: string, part: object, path: string, message: RegExp][] = [
  ['plain HTTP', { baseUrl: 'http://feedback.example.com/api' }, 'baseUrl', /must begin with https:\/\//],
  ['a host that begins like a loopback address', { baseUrl: 'http://127.0.0.1.example.com/api' }, 'baseUrl', /https/],
  ['a host that only begins like localhost', { baseUrl: 'http://localhost.example.com/api' }, 'baseUrl', /https/],
  ['another scheme', { baseUrl: 'ftp://feedback.example.com/api' }, 'baseUrl', /https/],
  ['no address', { baseUrl: 'feedback' }, 'baseUrl', /give one like/],
  ['a query', { baseUrl: 'https://feedback.example.com/api?x=1' }, 'baseUrl', /query/],
  ['a fragment', { baseUrl: 'https://feedback.example.com/api#x' }, 'baseUrl', /fragment/],
  ['credentials', { baseUrl: 'https://me:pw@feedback.example.com/api' }, 'baseUrl', /apiKey/],
  ['a user name alone', { baseUrl: 'https://me@feedback.example.com/api' }, 'baseUrl', /apiKey/],
  ['a password alone', { baseUrl: 'https://:pw@feedback.example.com/api' }, 'baseUrl', /apiKey/],
  ['a plain test address', { testBaseUrl: 'http://test.example.com/api' }, 'testBaseUrl', /https/],
  ['a test environment without address', { environment: 'test' }, 'testBaseUrl', /is needed/],
  ['an unknown environment', { environment: 'staging' }, 'environment', /production/],
  ['an empty key', { apiKey: '' }, 'apiKey', /is empty/],
  ['a key with its scheme', { apiKey: 'Token k-1' }, 'apiKey', /without the word Token/],
  ['a key with its whole header', { apiKey: 'Authorization: Token k-1' }, 'apiKey', /without the word Token/],
  ['a key with a space before it', { apiKey: ' k-1' }, 'apiKey', /spaces/],
  ['a key with a space within', { apiKey: 'k 1' }, 'apiKey', /spaces/],
  ['a key with a line end', { apiKey: 'k-1\n' }, 'apiKey', /line ends/],
  ['an unknown zone', { timeZone: 'Europe/Talinn' }, 'timeZone', /IANA/],
  ['an offset', { timeZone: '+02:00' }, 'timeZone', /IANA/],
  ['an empty zone', { timeZone: '' }, 'timeZone', /IANA/],
  ['no time', { timeoutMs: 0 }, 'timeoutMs', />=1/],
  ['an unknown key', { timeout: 5 }, '', /timeout/],
  ['a flawed override', { operations: { grade: { path: 'x' } } }, 'operations.grade.path', /must begin/],
];
test.each(wrong)('it refuses %s with its place', (_name, part, path, message) => {
  const issues = FeedbackSettings.safeParse({ ...good, ...part }).error?.issues ?? [];
  expect(issues.map((issue) => issue.path.join('.'))).toEqual([path]);
  expect(issues[0]?.message).toMatch(message);
});

test('it can be published as JSON Schema', () => {
  const schema = z.toJSONSchema(FeedbackSettings, { io: 'input' });
  expect(schema.required).toEqual(['baseUrl', 'apiKey', 'timeZone']);
});

test.each([
  ['https://h.example/api/', 'https://h.example/api'],
  ['https://h.example//api//', 'https://h.example//api'],
  ['https://h.example', 'https://h.example/'],
])('baseUrlOf makes %s %s', (baseUrl, expected) => {
  expect(baseUrlOf({ ...FeedbackSettings.parse({ ...good, baseUrl }) }).href).toBe(expected);
});
