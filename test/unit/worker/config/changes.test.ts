import { expect, test } from 'vitest';
import { changedPaths, fingerprintOf, needsRestart } from '../../../../worker/config/changes.ts';

const rule = { name: 'all', campaign: 12, contact: ['email', 'phone'] };
const before = { feedback: { apiKey: 'key' }, sources: { desk: { rules: [rule], secret: 'one' } } };

test.each<[string, object, string[]]>([
  ['names nothing where all is the same', structuredClone(before), []],
  ['names a value, not what it was or is', { ...before, feedback: { apiKey: 'new' } }, ['feedback.apiKey']],
  [
    'names the place in a list',
    { ...before, sources: { desk: { secret: 'one', rules: [{ ...rule, contact: ['email', 'id', 'x'] }] } } },
    ['sources.desk.rules[0].contact[1]', 'sources.desk.rules[0].contact[2]'],
  ],
  ['names what came or went as a whole', { ...before, sources: { shop: {} } }, ['sources.desk', 'sources.shop']],
  ['names a section that is something else now', { ...before, sources: [] }, ['sources']],
])('changedPaths %s', (_name, now, expected) => {
  expect(changedPaths(before, now)).toEqual(expected);
});

test.each([
  ['redis', true],
  ['http.port', true],
  ['secretsKey', true],
  ['dashboard.trustProxy[0]', true],
  ['dashboard.users[0].password', false],
  ['dashboard.sessions.idle', false],
  ['httpish', false],
  ['sources.admin', false],
])('needsRestart knows whether %s can change in a running process', (path, expected) => {
  expect(needsRestart(path)).toBe(expected);
});

test('fingerprintOf is the same whatever the order of sections, and another for another rule', () => {
  const { sources, feedback } = before;
  const fingerprint = fingerprintOf(before);
  expect(fingerprintOf({ sources, feedback })).toBe(fingerprint);
  expect(fingerprintOf({ ...before, sources: { desk: { rules: [{ ...rule, campaign: 13 }] } } })).not.toBe(fingerprint);
  expect(fingerprint).toMatch(/^[0-9a-f]{12}$/);
});
