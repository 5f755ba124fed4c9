import { expect, test } from 'vitest';
import { eventReader } from '../../../../connectors/webhook/events.ts';
import { settings } from '../../../../connectors/webhook/settings.ts';
import { openDoor } from '../../../support/worker/intake/door.ts';

const readerOf = (closed: string) =>
  eventReader(
    settings.parse({
      signature: { kind: 'standard', secrets: [`whsec_${Buffer.alloc(32, 'jobs to us').toString('base64')}`] },
      event: { record: '$string(data.job.id)', closed },
    }),
    (recordId) => recordId,
  );

/** An intake with two sources: to "one" the texts are hostile that come, and "two" needs JSONata as well. */
async function burst(closed: string, hostile: object) {
  const [one, two] = [readerOf(closed), readerOf('$lowercase(type) = "job.done"')];
  const door = await openDoor({}, { events: (delivery) => (delivery.url.endsWith('/one') ? one : two)(delivery) });
  const answered: string[] = [];
  const post = async (source: string, body: object) => {
    const { status } = await door.post(source, JSON.stringify({ type: 'job.done', data: { job: { id: 7 } }, ...body }));
    answered.push(source);
    return status;
  };
  const bad = Array.from({ length: 40 }, () => post('one', hostile));
  const good: number[] = [];
  for (let i = 0; i < 10; i++) good.push(await post('two', {}));
  return { bad: await Promise.all(bad), good, answered, said: door.told.map(({ fields }) => String(fields.why)) };
}

test('40 texts that a regular expression would go back and forth over are taken like any others (C 10)', async () => {
  const { bad, good } = await burst('$contains(text, /^(a+)+$/) or type = "job.done"', {
    text: `${'a'.repeat(5_000)}!`,
  });
  expect([...bad, ...good]).toEqual(Array(50).fill(202));
});

test('40 texts over which an expression never ends have it stopped once, and hold up no other source (C 10)', async () => {
  const endless = '($f := function($n) { $n = 0 ? true : $f($n - 1) }; $f(n))';
  const { bad, good, answered, said } = await burst(endless, { n: 1e12 });
  expect(good).toEqual(Array(10).fill(202));
  expect(bad).toEqual(Array(40).fill(503));
  // The whole of a good delivery comes between two turns of those that were there before it.
  expect(answered[0]).toBe('two');
  const words = ['was stopped, as it ran for too long', 'is set aside, as it was stopped just before'];
  expect(said).toEqual(words.map((one) => expect.stringContaining(one)));
});
