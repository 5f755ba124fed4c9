import { expect, test } from 'vitest';
import { pageWatch } from '../../../../core/connector/pages.ts';

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

test('a page that is called by a megabyte is not gone to, as each name is kept while a list is read (audit loop)', () => {
  const watch = pageWatch('Acme: things');
  watch('x'.repeat(8_192));
  expect(() => watch('x'.repeat(8_193))).toThrow('its pages are called by more than 8192 characters');
});
