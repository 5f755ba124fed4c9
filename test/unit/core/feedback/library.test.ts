import { expect, test } from 'vitest';
import { connectFeedback } from '../../../../core/feedback/library.ts';

const options = { baseUrl: 'https://feedback.example.com/api', apiKey: 'k-1', timeZone: 'Europe/Tallinn' };
const now = () => new Date('2026-03-02T10:00:00Z');

test('connectFeedback opens nothing, and calls by the fetch that it is given', async () => {
  const asked: unknown[] = [];
  const fetch = async (url: unknown) => {
    asked.push(String(url));
    return Response.json({ detail: 'no such campaign' }, { status: 404 });
  };
  const client = connectFeedback(options, { fetch, now });
  expect(asked).toEqual([]);
  await expect(client.campaign(7)).rejects.toMatchObject({ name: 'FeedbackError' });
  expect(asked).toEqual(['https://feedback.example.com/api/appeals/campaigns/7']);
});

test('connectFeedback tells every mistake in its options at once, as one that a person has to mend', () => {
  const wrong = { ...options, apiKey: '', timeZone: 'Tallinn' };
  expect(() => connectFeedback(wrong)).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/apiKey is empty.*; timeZone is not a time zone name/),
      advice: { kind: 'config' },
    }),
  );
});
