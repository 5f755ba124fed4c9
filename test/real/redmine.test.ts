import { expect, test } from 'vitest';
import { startRedmine } from './systems/redmine.ts';
import { useSystem } from './systems/use-system.ts';

const system = useSystem(startRedmine);

test('an issue is closed, reopened and deleted', async () => {
  const { person, statuses } = system.running;
  const id = await person.addIssue({ subject: 'Printer 😀 broken', customer: 'zoe@example.net' });
  await person.addIssue({ subject: 'The newest', customer: 'zoe@example.net' });
  await person.setFields(id, { 'Feedback grade': '9' });
  await person.comment(id, 'Seen.');
  await person.close(id);
  const closed = await person.read(id);
  expect(closed).toMatchObject({
    subject: 'Printer 😀 broken',
    isClosed: true,
    closedAt: expect.any(String),
    fields: { 'Feedback grade': '9', 'Feedback comment': null, 'Customer e-mail': 'zoe@example.net' },
  });
  await person.reopen(id);
  expect(await person.read(id)).toMatchObject({ isClosed: false, closedAt: closed.closedAt });
  const changes = (await person.changes(id)).filter(({ what }) => what === 'status_id');
  expect(changes.map(({ to }) => Number(to))).toEqual([statuses.Closed, statuses['In Progress']]);
  expect(await person.notes(id)).toEqual([{ by: expect.any(Number), text: 'Seen.', isPrivate: true }]);
  await person.remove(id);
  await expect(person.read(id)).rejects.toThrow('404');
});
