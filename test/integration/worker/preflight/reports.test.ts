import { expect, test } from 'vitest';
import { check } from '../../../../worker/cli/check.ts';
import { startLoop } from '../../../support/loop.ts';
import { mailServer } from '../../../support/mail-server.ts';
import { printed, useCommands } from '../../../support/worker/cli/commands.ts';

const { beside, fresh, redis } = useCommands();

test('a campaign, a custom field and a mail server that are not there are found, and nothing is sent', async () => {
  const { mails, email } = await mailServer();
  const { from } = email();
  const checked = async (password: string | undefined, more: object) => {
    const mail = { name: 'Leads', to: ['ann@example.com'], ...more };
    const reports = { server: email(password).server, from, mails: [mail] };
    const loop = await startLoop(redis, { source: fresh(), general: `reports: ${JSON.stringify(reports)}` });
    const { rows } = await printed(() => check(beside(loop)));
    await loop.close();
    return Object(rows[0]).findings.filter(({ at }: { at: string }) => at.startsWith('reports'));
  };
  expect(await checked(undefined, { campaigns: [12], field: { Store: 'Tallinn' } })).toEqual([]);
  const found = await checked('hunter2', { campaigns: [12, 99], field: { Stor: 'Tallinn' } });
  expect(found).toMatchObject([
    { at: 'reports.server', problem: expect.stringMatching(/^the mail server can not be used: /) },
    { at: 'reports.mails[0].campaigns', problem: 'mail "Leads": there is no campaign 99' },
    { at: 'reports.mails[0].field', problem: 'mail "Leads": none of its campaigns has a custom field "Stor"' },
  ]);
  expect(JSON.stringify(found)).not.toContain('hunter2');
  expect(mails).toEqual([]);
});
