import { expect, test } from 'vitest';
import { TestContact, testLines, testPlaces } from '../../../../worker/config/test-mode.ts';

const me = { email: 'me@acme.com' };

test('it names every place in which test mode is written, whatever else the file says', () => {
  const written = {
    policy: { test: me },
    sources: {
      support: {
        connector: 'zendesk',
        test: { email: 'from a variable' },
        rules: [{ name: 'one' }, { name: 'two', test: me }],
      },
      shop: { rules: [{ name: 'all' }, { name: 'three', test: me }] },
      broken: 'nothing',
    },
  };
  expect(testPlaces({ written })).toEqual([
    { at: 'policy.test', what: 'everything' },
    { at: 'sources.support.test', what: 'source support' },
    { at: 'sources.support.rules[1].test', what: 'rule "two" of source support' },
    { at: 'sources.shop.rules[1].test', what: 'rule "three" of source shop' },
  ]);
  expect(testLines({ written }).join('\n')).not.toContain(me.email);
});

test.each([undefined, null, 7, { sources: [] }, { policy: 'x', sources: { a: { rules: 'x' } } }])(
  'it finds none in %j',
  (written) => expect(testPlaces({ written })).toEqual([]),
);

const contacts: [given: object, isGood: boolean][] = [
  [me, true],
  [{ phone: '+37255512345' }, true],
  [{ identifier: 'tester', field: 'Trial' }, true],
  [{}, false],
  [{ field: 'Test' }, false],
  [{ email: 'me' }, false],
  [{ phone: '55512345' }, false],
  [{ phone: '+3726012345' }, false],
  [{ ...me, mobile: '+37255512345' }, false],
];
test.each(contacts)('a test contact of %j is taken: %s', (given, isGood) => {
  expect(TestContact.safeParse(given).success).toBe(isGood);
});
