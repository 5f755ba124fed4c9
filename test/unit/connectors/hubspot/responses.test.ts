import { expect, test, vi } from 'vitest';
import { ErrorBody, refusalOf } from '../../../../connectors/hubspot/responses.ts';

test('JSON within a message is parsed where its structure is bearable only (audit loop)', () => {
  const told = 'Property values were not valid: [{"name":"feedback_grade","error":"INVALID_OPTION"}]';
  const problems = [{ code: 'INVALID_OPTION', property: 'feedback_grade' }];
  expect(refusalOf(400, ErrorBody.parse({ message: told })).problems).toEqual(problems);
  const body = ErrorBody.parse({ message: '['.repeat(500_000) });
  const parse = vi.spyOn(JSON, 'parse');
  expect(refusalOf(400, body).problems).toEqual([]);
  const times = parse.mock.calls.length;
  parse.mockRestore();
  expect(times).toBe(0);
});
