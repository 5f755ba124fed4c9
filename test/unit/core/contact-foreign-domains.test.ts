import { expect, test } from 'vitest';
import { contactFor } from '../../../core/contact.ts';

const isTaken = (text: string) => contactFor([text], 'email', {}).ok;

test.each([
  'a@mõis.ee',
  'a@õ.ee',
  'a@1õ.ee',
  'a@õ1.ee',
  'a@põhja-eesti.ee',
  'a@post.mõis.ee',
  'a@अतिथि.भारत',
  'अतिथि@भारत.भारत',
  'jüri@mõis.ee',
  // 254 bytes
  `${'a'.repeat(64)}@${'õ'.repeat(29)}.${'b'.repeat(63)}.${'c'.repeat(63)}.ee`,
])('an address under a domain of any script is taken: %s', (text) => {
  expect(isTaken(text)).toBe(true);
});

test.each([
  'a@mõis',
  'a@-mõis.ee',
  'a@mõis-.ee',
  'a@mõis..ee',
  'a@.mõis.ee',
  'a@mõis.ee.',
  'a@mõis.-ee',
  'a@mõis.ee-',
  'a@(mõis).ee',
  'a@mõis.(ee)',
  'a@mõ_is.ee',
  '@mõis.ee',
  `${'a'.repeat(64)}@${'õ'.repeat(29)}.${'b'.repeat(63)}.${'c'.repeat(63)}.eee`,
])('what is no address under such a domain is not: %s', (text) => {
  expect(isTaken(text)).toBe(false);
});
