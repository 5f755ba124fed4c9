import { expect, test } from 'vitest';
import { recordIn, withinSource } from '../../../../worker/support/journey-filter.ts';

const renamed = { name: 'helpdesk', storedAs: 'support' };
const dry = { name: 'dry-run.helpdesk', storedAs: 'dry-run.support' };

test.each([
  ['helpdesk/14.1', renamed, '14.1'],
  ['support/14.1', renamed, '14.1'],
  ['helpdesk/14', dry, '14'],
  ['support/14', dry, '14'],
  ['other/14', renamed, undefined],
  ['14', renamed, undefined],
])('%s of a source that had another name', (text, of, found) => {
  expect(withinSource(of, text)).toBe(found);
  expect(recordIn(of, text)).toBe(found ?? text);
});
