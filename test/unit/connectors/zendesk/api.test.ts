import { expect, test } from 'vitest';
import { resultsOf } from '../../../../connectors/zendesk/api.ts';

test('resultsOf keeps what it understands, by ticket', () => {
  const results = resultsOf([{ id: 1, success: true }, { id: '2', error: 'X', success: false }, 'odd']);
  expect([...results]).toEqual([
    ['1', { id: '1', success: true }],
    ['2', { id: '2', success: false, error: 'X' }],
  ]);
});
