import { expect, test } from 'vitest';
import { shownMessage } from '../../../../core/feedback/shown-message.ts';

const rows: [message: string, shown: string | undefined][] = [
  ['This field is required.', 'This field is required'],
  [
    'Select a valid choice. Mari Maasikas is not one of the available choices.',
    'Select a valid choice. … is not one of the available choices',
  ],
  ['"+37255512345" is not a valid choice.', '… is not a valid choice'],
  ['Enter a valid email address.', 'Enter a valid email …'],
  ['Ensure this field has no more than 100 characters.', 'Ensure this field has no more than 100 characters'],
  ['Ensure this value is less than or equal to 5.', 'Ensure this value is less than or equal to 5'],
  ['A valid number is required.', 'A valid number is required'],
  [
    'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss].',
    'Datetime has wrong format. Use one of these formats instead: …',
  ],
  ['+372 612 3456 is not a valid phone number.', '… is not a valid phone number'],
  ['1234 is not a valid choice.', '… is not a valid choice'],
  ['37255512345 is not a valid phone number.', '… is not a valid phone number'],
  ['carl@example.com is blacklisted in this campaign', '… is blacklisted in this campaign'],
  // Nothing to be learnt from, or somebody's words.
  ['No.', undefined],
  ['Mari Maasikas has answered', undefined],
  ['Sehr geehrte Frau Maasikas, diese Nummer ist falsch', undefined],
  ['she told me that it was wrong and her husband Jaan left', undefined],
  ['', undefined],
];
test.each(rows)('"%s" is shown as "%s"', (message, shown) => {
  expect(shownMessage(message)).toBe(shown);
});
