import { expect, test } from 'vitest';
import { startLoop, until } from '../../../support/loop.ts';
import { useRedis } from '../../../support/redis.ts';

const redis = useRedis();

test('requests whose ids no number can hold are asked, collected, and written, each on its own record', async () => {
  const loop = await startLoop(redis, { source: 'long-ids' });
  const { standin } = loop.feedback;
  const ids = ['9007199254740993', '9007199254740995', '123456789012345678901', '123456789012345678903'];
  standin.giveLongIds({ ids });
  const records = ['a', 'b', 'c', 'd'];
  for (const [index, id] of records.entries()) {
    await loop.closeAll([id], { customer: { email: `${id}@example.com` }, store: 'Tartu' });
    expect(await loop.journey(`${id}.1`, 'asked')).toMatchObject({ requestId: ids[index] });
  }
  const sent = standin.requests();
  expect(sent.map(({ longId, email }) => [longId, email])).toEqual(
    ids.map((id, index) => [id, `${records[index]}@example.com`]),
  );
  for (const [index, { id, email }] of sent.entries())
    standin.answer({ request: id, grade: index + 2, comment: `From ${email}` });
  for (const id of records) await loop.journey(`${id}.1`, 'written');
  await until(() => loop.vendor.written.length === records.length);
  expect(loop.vendor.written.toSorted((a, b) => a.recordId.localeCompare(b.recordId))).toMatchObject(
    records.map((recordId, index) => ({ recordId, grade: index + 2, comment: `From ${recordId}@example.com` })),
  );
  const { feedback } = loop.app.engine.pipelines.get('long-ids')?.context ?? expect.unreachable();
  for (const [index, id] of ids.entries()) {
    expect(await feedback.request(id)).toMatchObject({ id, grade: index + 2 });
  }
});

test('a request whose id no number can hold is cancelled, graded and commented on by its own id', async () => {
  const loop = await startLoop(redis, { source: 'long-ids-by-hand' });
  const { standin } = loop.feedback;
  standin.addCampaign({ account: 'acme', id: 77, type: 'external' });
  const { feedback } = loop.app.engine.pipelines.get('long-ids-by-hand')?.context ?? expect.unreachable();
  const ids = ['9007199254740993', '9007199254740992', '123456789012345678901'];
  standin.giveLongIds({ ids });
  const contact = { kind: 'identifier', value: 'desk-7' } as const;
  for (const id of ids)
    expect(await feedback.create({ campaign: 77, contact, customFields: {} })).toMatchObject({ id });
  for (const [index, id] of ids.entries()) {
    await feedback.grade(id, index + 1);
    await feedback.comment(id, `Comment ${id}`);
  }
  expect(standin.requests({ campaign: 77 }).map(({ longId, grade, comment }) => [longId, grade, comment])).toEqual(
    ids.map((id, index) => [id, index + 1, `Comment ${id}`]),
  );
  const scheduled = new Date(loop.feedback.standin.now().getTime() + 3_600_000);
  standin.giveLongIds({ ids: ['9007199254740995'] });
  const { id } = await feedback.create({ campaign: 77, contact, customFields: {}, scheduled });
  await feedback.cancel(id);
  expect(await feedback.request('9007199254740995')).toMatchObject({ id: '9007199254740995', status: 'Cancelled' });
});
