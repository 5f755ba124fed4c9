import { expect, test } from 'vitest';
import { givenFields } from '../../../../worker/cli/init/flaws.ts';

test.each([
  [['Store=ticket.id', 'Text="a=b"', 'Number=5'], []],
  [
    ['Store', 'Store=', '=ticket.id'],
    [/"Store" is not like/, /"Store=" is not like/, /"=ticket\.id" is not like/],
  ],
  [['Agent=a', 'Agent=b'], [/Agent is there twice/]],
  [
    ['Store=assignee.(', 'Agent=('],
    [/^--field Store: /, /^--field Agent: /],
  ],
])('of the fields %j every mistake is told', (given, told) => {
  expect(givenFields(given).wrong).toEqual(told.map((one) => expect.stringMatching(one)));
});
