import { expect, test } from 'vitest';
import { createFeedbackClient } from '../../../../core/feedback/client.ts';
import { FeedbackSettings } from '../../../../core/feedback/settings.ts';
import { livePorts } from '../../../../worker/cli/live-ports.ts';
import { readingService, readingVendor } from '../../../../worker/pipeline/reading-only.ts';

const settings = FeedbackSettings.parse({
  baseUrl: 'https://feedback.example.com/api',
  apiKey: 'k',
  timeZone: 'Europe/Tallinn',
});
const calls: string[] = [];
const ports = {
  ...livePorts,
  fetch: async (url: unknown) => {
    calls.push(String(url));
    throw new Error('a call');
  },
};
const writes = ['create', 'grade', 'comment', 'cancel', 'mask'];

test('in a dry run the service is not called by what writes, and everything else passes', async () => {
  const client = createFeedbackClient(settings, ports);
  const reading = readingService(client);
  const passes = Object.keys(client).filter((name) => Reflect.get(reading, name) === Reflect.get(client, name));
  expect(Object.keys(client).filter((name) => !passes.includes(name))).toEqual(writes);
  await expect(reading.cancel('7')).rejects.toThrow('a dry run writes nothing: "cancel" was not called');
  await expect(reading.mask({ kind: 'email', value: 'a@example.com' })).rejects.toMatchObject({
    outcome: 'never-sent',
  });
  expect(calls).toEqual([]);
});

test('in a dry run the vendor is not called by what writes', async () => {
  const written: string[] = [];
  const source = readingVendor({
    verify: () => ({ ok: true }),
    events: () => ({ ok: true, events: [], ignored: [] }),
    read: async () => [],
    writeBack: async () => {
      written.push('an answer');
      return [];
    },
    forget: async () => {
      written.push('forgotten');
      return [];
    },
    batchSize: 10,
    taken: { status: 202 },
  });
  expect(await source.read([])).toEqual([]);
  expect(source.batchSize).toBe(10);
  await expect(source.writeBack([])).rejects.toThrow(/writes nothing/);
  await expect(source.forget?.([])).rejects.toThrow(/writes nothing/);
  expect(written).toEqual([]);
});
