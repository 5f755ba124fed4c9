import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PreflightContext, SetupStep, Source } from '../../../../core/connector/contract.ts';
import { adviceOf, CloseloopError } from '../../../../core/errors.ts';
import {
  type Account,
  about,
  day,
  hookUrl,
  ids,
  openAccount,
  secret,
} from '../../../support/connectors/zendesk/preflight.ts';

let account: Account;
beforeEach(async () => {
  account = await openAccount();
});
afterEach(() => account.close());

const going: PreflightContext = { ...about, reads: [] };

async function steps(source: Source, more: Partial<PreflightContext> = {}): Promise<SetupStep[]> {
  return (await source.setup?.({ ...going, ...more })) ?? [];
}

/** Applies all steps; the secrets that they told. */
async function apply(all: readonly SetupStep[]): Promise<Readonly<Record<string, string>>> {
  const told: Record<string, string> = {};
  for (const step of all) Object.assign(told, (await step.apply()).secrets);
  return told;
}

const titles = {
  grade: 'Feedback grade',
  comment: 'Feedback comment',
  answeredAt: 'Feedback answered at',
  status: 'Feedback status',
  userFields: { grade: 'feedback_grade', comment: 'feedback_comment', answeredAt: 'feedback_at' },
  noAnswer: true,
};

test('it sets an empty account up, after which check finds nothing and setup has nothing left to do', async () => {
  const source = account.open({ writeBack: titles });
  const all = await steps(source);
  expect(all.map(({ what }) => what)).toEqual([
    'create the ticket field "Feedback grade" (integer)',
    'create the ticket field "Feedback comment" (textarea)',
    'create the ticket field "Feedback answered at" (date)',
    'create the ticket field "Feedback status" (dropdown: fb_answered, fb_no_answer)',
    'create the user field "feedback_grade" (integer)',
    'create the user field "feedback_comment" (textarea)',
    'create the user field "feedback_at" (date)',
    `create the webhook that delivers to ${hookUrl}`,
  ]);
  const told = await apply(all);
  expect(told).toEqual({ webhookSecrets: account.standin.webhooks[0]?.secrets[0] });

  expect(await steps(source)).toEqual([]);
  const ready = account.open({ writeBack: titles, webhookSecrets: Object.values(told) });
  expect(await steps(ready)).toEqual([]);
  expect(await ready.check?.(going)).toEqual([]);
});

test.each([
  ['lost: it is told again', ['lost'], 1],
  ['there: nothing is left to do', ['lost', 'real'], 0],
])('of a webhook that is set up the signing secret is %s', async (_, secrets, count) => {
  const { webhookSecrets: real = '' } = await apply(await steps(account.open({ writeBack: titles })));
  const source = account.open({
    writeBack: titles,
    webhookSecrets: secrets.map((one) => (one === 'real' ? real : one)),
  });
  const recovered = (await source.recover?.(going)) ?? [];
  expect(recovered.map(({ what }) => what)).toEqual(
    Array(count).fill('take over the signing secret of the webhook "closeloop"'),
  );
  if (count > 0) expect(await apply(recovered)).toEqual({ webhookSecrets: real });
});

test('a signing secret that may not be read leaves nothing to take over, and fails nothing', async () => {
  await apply(await steps(account.open({ writeBack: titles })));
  account.standin.faults.add({ path: 'signing_secret', status: 403 });
  expect(await account.open({ writeBack: titles, webhookSecrets: ['lost'] }).recover?.(going)).toEqual([]);
});

test('it looks only, until a step is applied', async () => {
  await steps(account.open({ writeBack: titles }));
  const changes = Object.keys(account.standin.callCounts()).filter((call) => !call.startsWith('GET '));
  expect(changes).toEqual(['POST /oauth/tokens']);
});

test('it asks for the right to create things only to create them', async () => {
  account.standin.changeSettings({ admin: { clientScopes: ['read', 'tickets:write'] } });
  const [first] = await steps(account.open({ writeBack: { grade: 'Feedback grade' } }));
  const error = await first?.apply().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CloseloopError);
  expect(String(error)).toMatch(/scope "read write"/);
  expect(adviceOf(error)).toEqual({ kind: 'config' });
});

describe('the grade becomes', () => {
  const made = async (gradeValues: object, grades = going.grades): Promise<string[]> => {
    account.standin.setWebhook({ url: hookUrl });
    // Its options have the tags 1 to 5, and no other field can.
    account.standin.ticketField(ids.grade).options = [];
    const source = account.open({ writeBack: { grade: 'Feedback grade', gradeValues } });
    const all = await steps(source, { grades });
    await apply(all);
    expect((await source.check?.({ ...going, grades }))?.filter(({ at }) => at.startsWith('writeBack'))).toEqual([]);
    return all.map(({ what }) => what);
  };
  test.each([
    [{}, 'integer'],
    [{ 1: 'fb_bad', 2: 'fb_bad', 3: 'fb_fair' }, 'dropdown: fb_bad, fb_fair, 4, 5'],
    [{ 1: 'false', 5: 'true' }, 'checkbox'],
    [{ 1: 'very bad' }, 'text'],
  ])('%j: %s', async (gradeValues, type) => {
    expect(await made(gradeValues)).toEqual([`create the ticket field "Feedback grade" (${type})`]);
  });
  test('text, where another field has one of the tags', async () => {
    const options = [{ name: 'Awful', value: 'fb_bad' }];
    account.standin.addTicketField({ title: 'Mood', type: 'tagger', options });
    expect(await made({ 1: 'fb_bad' })).toEqual(['create the ticket field "Feedback grade" (text)']);
  });
  test('a dropdown of what gradeValues names, where nobody knows the grades', async () => {
    expect(await made({ 1: 'fb_bad', 2: 'fb_good' }, [])).toEqual([
      'create the ticket field "Feedback grade" (dropdown: fb_bad, fb_good)',
    ]);
  });
});

describe('options that a dropdown lacks', () => {
  test('are added to those that are there', async () => {
    const field = account.standin.ticketField(ids.grade);
    const before = field.options.slice(0, 3).map((option) => ({ ...option }));
    field.options = field.options.slice(0, 3);
    account.standin.setWebhook({ url: hookUrl, secrets: [secret] });
    const source = account.open();
    const all = await steps(source);
    expect(all.map(({ what }) => what)).toEqual([`add the options "4", "5" to the ticket field ${ids.grade} "Grade"`]);
    // Somebody else was quicker with one.
    field.options.push({ id: 1, name: 'Four', value: '4' });
    await apply(all);
    expect(field.options).toEqual([
      ...before,
      { id: 1, name: 'Four', value: '4' },
      { id: expect.any(Number), name: '5', value: '5' },
    ]);
    expect(await steps(source)).toEqual([]);
    expect(await source.check?.(going)).toEqual([]);
  });

  test('are not added twice when the answer to one got lost', async () => {
    account.standin.ticketField(ids.grade).options.splice(2);
    account.standin.setWebhook({ url: hookUrl, secrets: [secret] });
    const source = account.open();
    const [step] = await steps(source);
    account.standin.faults.add({ path: 'options', method: 'POST', then: 'work-then-cut' });
    await expect(step?.apply()).rejects.toThrow(CloseloopError);
    expect((await steps(source)).map(({ what }) => what)).toEqual([
      expect.stringContaining('add the options "4", "5"'),
    ]);
    await step?.apply();
    expect(account.standin.ticketField(ids.grade).options.map(({ value }) => value)).toEqual(['1', '2', '3', '4', '5']);
  });
});

describe('the webhook', () => {
  test('is connected to a trigger where ticket events are refused', async () => {
    account.standin.changeSettings({ admin: { ticketEvents: false } });
    const source = account.open();
    const told = await apply(await steps(source));
    expect(account.standin.webhooks).toMatchObject([{ subscriptions: ['conditional_ticket_events'] }]);
    expect(account.standin.admin.triggers).toHaveLength(1);
    expect(await steps(source)).toEqual([]);
    expect(await account.open({ webhookSecrets: Object.values(told) }).check?.(going)).toEqual([]);
  });

  test.each([
    ['POST', '/api/v2/webhooks', true],
    ['POST', '/api/v2/webhooks', false],
    ['POST', '/api/v2/triggers', false],
    ['GET', 'signing_secret', true],
  ])('is made once when the answer to %s %s got lost (ticket events: %s)', async (method, path, ticketEvents) => {
    account.standin.changeSettings({ admin: { ticketEvents } });
    const [step] = await steps(account.open());
    account.standin.faults.add({ path, method, then: 'work-then-cut' });
    await expect(step?.apply()).rejects.toThrow(CloseloopError);
    const told = await apply(step === undefined ? [] : [step]);
    expect(account.standin.webhooks).toHaveLength(1);
    expect(account.standin.admin.triggers).toHaveLength(ticketEvents ? 0 : 1);
    expect(Object.keys(told)).toEqual(['webhookSecrets']);
  });

  test('gets the trigger that an earlier setup did not get to make', async () => {
    account.standin.setWebhook({ url: hookUrl, secrets: [secret], style: 'trigger' });
    account.standin.admin.triggers = [];
    const source = account.open();
    const all = await steps(source);
    expect(all.map(({ what }) => what)).toEqual([`correct the webhook that delivers to ${hookUrl}`]);
    await apply(all);
    expect(await steps(source)).toEqual([]);
    expect(await source.check?.(going)).toEqual([]);
  });

  test('is activated, and otherwise stays as it is', async () => {
    const webhook = account.standin.setWebhook({ name: 'mine', url: hookUrl, secrets: [secret], active: false });
    const before = { ...webhook };
    const source = account.open();
    const all = await steps(source);
    expect(all.map(({ what }) => what)).toEqual([`correct the webhook that delivers to ${hookUrl}`]);
    expect(await apply(all)).toEqual({});
    expect(webhook).toEqual({ ...before, active: true });
    expect(await steps(source)).toEqual([]);
  });

  test('is left out while nobody knows where Zendesk has to deliver', async () => {
    const { hookUrl: _missing, ...nowhere } = going;
    expect(await account.open().setup?.(nowhere)).toEqual([]);
  });

  test('fires for solved tickets once it is made by a trigger', async () => {
    account.standin.changeSettings({ admin: { ticketEvents: false } });
    await apply(await steps(account.open()));
    const customer = account.standin.addUser({}).id;
    const ticket = account.standin.addTicket({ requesterId: customer, assigneeId: 9900 }).id;
    await account.standin.comment({ id: ticket, authorId: customer, body: 'Hello?' });
    expect(await account.standin.solve(ticket)).toHaveLength(1);
  });
});

test('it leaves alone what exists and does not fit: check tells of that', async () => {
  account.standin.setWebhook({ url: hookUrl, secrets: [secret] });
  account.standin.ticketField(ids.comment).active = false;
  const source = account.open({ writeBack: { grade: 999_999, comment: 'Comment', answeredAt: 'Store' } });
  expect(await steps(source, { answersWithinMs: 9 * day })).toEqual([]);
});

test('a step does nothing when somebody else did it meanwhile', async () => {
  account.standin.setWebhook({ url: hookUrl, secrets: [secret] });
  const source = account.open({ writeBack: { comment: 'Said', userFields: { grade: 'nine' } } });
  const all = await steps(source);
  account.standin.addTicketField({ title: 'Said', type: 'textarea' });
  account.standin.addUserField({ key: 'nine', type: 'integer' });
  await apply(all);
  expect(await steps(source)).toEqual([]);
  const created = Object.keys(account.standin.callCounts()).filter((call) => /^POST .*fields/.test(call));
  expect(created).toEqual([]);
});
