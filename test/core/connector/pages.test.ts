import { expect, test } from 'vitest';
import { pageWatch } from '../../../core/connector/pages.ts';

test('the way through a list may not come to the same page again (audit 28)', () => {
  const watch = pageWatch('Acme: things');
  watch('a');
  watch('b');
  expect(() => watch('a')).toThrow('Acme: things: its pages lead in a circle');
});

test('the way through a list has an end (audit 28)', () => {
  const watch = pageWatch('Acme: things', 3);
  for (const page of ['a', 'b', 'c']) watch(page);
  expect(() => watch('d')).toThrow('its pages have no end (3 so far)');
});
