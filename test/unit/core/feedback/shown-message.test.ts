import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shownMessage } from '../../../../core/feedback/shown-message.ts';

const comment = 'I waited for two hours, and then Mari told me that it was closed. Never again!';
const rows: [message: string, sent: unknown[], shown: string | undefined][] = [
  ['This field is required.', ['North'], 'This field is required'],
  [
    "Only feedback requests with status 'Scheduled' can be cancelled.",
    [],
    "Only feedback requests with status 'Scheduled' can be cancelled",
  ],
  [
    'Only feedback requests of an external campaign can be graded or commented.',
    [comment],
    'Only feedback requests of an external campaign can be graded or commented',
  ],
  [
    'Ensure this field has no more than 100 characters.',
    [comment],
    'Ensure this field has no more than 100 characters',
  ],
  ['Antud väli on kohustuslik.', [], 'Antud väli on kohustuslik'],
  [
    'Select a valid choice. Mari Maasikas is not one of the available choices.',
    ['Mari Maasikas'],
    'Select a valid choice. … is not one of the available choices',
  ],
  ['Frau MAASIKAS ist unbekannt', ['Mari Maasikas'], 'Frau … ist unbekannt'],
  ['"North" is not a valid choice, but Northern is.', ['North'], '… is not a valid choice, but Northern is'],
  ['4711 is no order; 14711 is.', [4711], '… is no order; 14711 is'],
  ['Your text “waited for two hours, and th…” is refused', [comment], 'Your text … is refused'],
  ['+372 612 3456 is not a valid phone number.', [], '… is not a valid phone number'],
  ['37255512345 and (0)55-512-345 are not valid.', [], '… and … are not valid'],
  ['carl@example.com is blacklisted in this campaign', [], '… is blacklisted in this campaign'],
  ['mari%40näide.ee, jaan@x.ee: unknown', [], '… unknown'],
  ['The contact desk-7\nis\u202e\u001b[31m unknown', ['desk-7'], 'The contact … is [31m unknown'],
  [`${'x'.repeat(300)}`, [], `${'x'.repeat(200)}…`],
  ['A value of true is expected', [true], 'A value of true is expected'],
  ['carl@example.com', [], undefined],
  ['North.', ['north'], undefined],
  ['…', [], undefined],
  ['', ['North'], undefined],
];
test.each(rows)('%j, after %j was sent, is shown as %j', (message, sent, shown) => {
  expect(shownMessage(message, sent)).toBe(shown);
});

test('no value that was sent is shown, wherever the message quotes it and in whatever case', () => {
  const value = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'abcdefgh õäöü XYZ.,-'), minLength: 3, maxLength: 60 }),
    fc.emailAddress(),
    fc.bigInt({ min: 1_000_000n, max: 10n ** 14n }).map((digits) => `+${digits}`),
  );
  const sent = value.filter((text) => /[\p{L}\p{N}]{3}/u.test(text) && text.trim() === text);
  fc.assert(
    fc.property(sent, fc.constantFrom('', '"', '(', ' “'), fc.boolean(), (text, before, isLoud) => {
      const quoted = isLoud ? text.toUpperCase() : text;
      const shown = shownMessage(`The text ${before}${quoted}${before} is refused.`, [text]) ?? '';
      expect(shown).toContain('is refused');
      expect(shown.toLowerCase()).not.toContain(text.replace(/\s+/g, ' ').toLowerCase());
    }),
  );
});
