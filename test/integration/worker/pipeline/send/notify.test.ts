import { describe, expect, test } from 'vitest';
import { verifyStandardWebhook } from '../../../../../core/connector/standard-webhook.ts';
import { erased } from '../../../../../worker/journey/forget.ts';
import { step } from '../../../../../worker/journey/transitions.ts';
import { act } from '../../../../../worker/pipeline/act/act.ts';
import { noteRequested } from '../../../../../worker/pipeline/erasure-guard.ts';
import { asking, eraseOf, useManual } from '../../../../support/manual.ts';
import { receiver } from '../../../../support/receiver.ts';
import { ToyVendor } from '../../../../support/toy-connector.ts';

const manual = useManual();

const hostile =
  '<!channel> *Too late* & <https://evil.example|click>\r\nBcc: all@example.com\n[x](https://evil.example)';
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** A journey whose unhappy customer somebody is told of. */
async function unhappy(alerts: string, { names = '[support-leads]', comment = hostile as string | null } = {}) {
  const vendor = new ToyVendor();
  vendor.parts = { agents: ['ticket.store'], customer: ['customer.email'] };
  vendor.recordUrl = (id) => `https://desk.example/tickets/${id}`;
  const answers = `[{ name: unhappy, when: answer.grade <= 2, settle: 0, do: [{ notify: ${names} }, { followUp: { to: Maria, due: 4h } }] }]`;
  const unit = manual.unitContext({ vendor, answers, general: `alerts: ${alerts}` });
  vendor.close('p', { customer: { email: 'erika@example.com', name: 'Erika\r\nExample' }, store: 'Peter' });
  await asking(unit, 'p');
  vendor.close('p', { customer: { email: 'erika@example.com', name: 'Erika\r\nExample' }, store: 'Peter' });
  const answer = (grade: number, version: number, words = comment) =>
    unit.store.update('p.1', (now) => ({
      journey: step(now, 'answered', new Date(), { answer: { grade, comment: words, seenAt: new Date(), version } }),
      trace: [],
    }));
  await answer(1, 1);
  const { engine, context } = unit;
  return {
    ...unit,
    answer,
    act: () => act({ journeyId: 'p.1' }, context),
    send: async () => {
      for (const stage of engine.sending.stages) await stage.run({ source: 'calm', recordId: 'p' });
    },
  };
}

describe('notify', () => {
  test('tells Slack, in plain text, of the grade, the words, customer, agent, follow-up and record', async () => {
    const slack = await receiver();
    const one = await unhappy(`{ receivers: { support-leads: { slack: "${slack.url}" } } }`);
    await one.act();
    await one.send();
    expect(slack.got).toHaveLength(1);
    const { body } = slack.got[0] ?? expect.fail();
    expect(body.text).toBe('closeloop: 1 of 5 from Erika Example');
    const plain = JSON.stringify(body.blocks);
    expect(plain).toContain('"type":"plain_text","text":"calm: p\\n“<!channel> *Too late*');
    expect(plain).toMatch(
      /agent: Peter\\nanswer rule: unhappy\\nfollow-up: for Maria, due 2[\d-]+ \d\d:\d\d \(Europe\/Tallinn\)/,
    );
    expect(plain).toContain('<https://desk.example/tickets/p|The record>');
    expect(await one.trace('p.1')).toContain('answer rule "unhappy": support-leads is told of the answer');
  });

  test('tells Teams in text runs, which read no Markdown', async () => {
    const teams = await receiver();
    const one = await unhappy(`{ receivers: { support-leads: { teams: "${teams.url}" } } }`);
    await one.act();
    await one.send();
    const text = JSON.stringify(teams.got[0]?.body);
    expect(text).toContain('{"type":"TextRun","text":"[x](https://evil.example)”"}');
    expect(text).toContain('"selectAction":{"type":"Action.OpenUrl","url":"https://desk.example/tickets/p"}');
  });

  test('tells a receiver of alerts by the name of its setting, signed, beside a named one', async () => {
    const [own, leads] = [await receiver(), await receiver()];
    const alerts = `{ url: "${own.url}", secrets: [${secret}], receivers: { leads: { slack: "${leads.url}" } } }`;
    const one = await unhappy(alerts, { names: '[url, leads]', comment: null });
    await one.act();
    await one.send();
    const [got] = own.got;
    const { headers = {}, raw = Buffer.of() } = got ?? {};
    expect(verifyStandardWebhook({ headers, raw, receivedAt: new Date() }, [secret])).toEqual({ ok: true });
    expect(got?.body).toMatchObject({
      type: 'closeloop.answer',
      data: { grade: '1 of 5', comment: null, agent: 'Peter', record: 'p', journey: 'calm/p.1', rule: 'unhappy' },
    });
    expect(leads.got).toHaveLength(1);
  });

  test('tells once of a version, however often jobs run, and again where a rule matches again', async () => {
    const slack = await receiver();
    const one = await unhappy(`{ receivers: { support-leads: { slack: "${slack.url}" } } }`);
    for (let i = 0; i < 3; i++) {
      await one.act();
      await one.send();
    }
    expect(slack.got).toHaveLength(1);
    await one.answer(5, 2);
    await one.act();
    await one.answer(2, 3);
    await one.act();
    await one.send();
    expect(slack.got).toHaveLength(2);
  });

  test('tells one that was down, under the same id, and says that the answer has changed since', async () => {
    let isDown = true;
    const own = await receiver(() => (isDown ? { status: 503 } : undefined));
    const one = await unhappy(`{ url: "${own.url}", secrets: [${secret}] }`, { names: 'url' });
    await one.act();
    await expect(one.send()).rejects.toThrow('it answered 503');
    await one.answer(4, 2);
    isDown = false;
    await one.send();
    const [first, second] = own.got;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body.data).toMatchObject({ grade: '4 of 5', isChanged: true });
  });

  test('tells without customer and agent where the vendor does not answer', async () => {
    const slack = await receiver();
    const one = await unhappy(`{ receivers: { support-leads: { slack: "${slack.url}" } } }`);
    await one.act();
    one.vendor.failures.read.push(new Error('the vendor is down'));
    await one.send();
    expect(slack.got[0]?.body.text).toBe('closeloop: 1 of 5');
  });

  test('tells nothing of somebody who was erased before it was sent, and keeps no words in Redis', async () => {
    const slack = await receiver();
    const one = await unhappy(`{ receivers: { support-leads: { slack: "${slack.url}" } } }`);
    await one.act();
    await one.store.update('p.1', (now) => ({ journey: erased(now, new Date()), trace: [] }));
    await one.send();
    expect(slack.got).toEqual([]);
    expect(await one.store.outgoing.counts('notify.support-leads.slack')).toMatchObject({ due: 0, givenUp: 0 });
  });

  test('tells nothing of somebody whose erasure is asked for while the record is read', async () => {
    const slack = await receiver();
    const one = await unhappy(`{ receivers: { support-leads: { slack: "${slack.url}" } } }`);
    await one.act();
    const { read } = one.context;
    one.context.read = async (...about) => {
      const { everybody: _, ...erase } = eraseOf({ contacts: ['erika@example.com'] });
      await noteRequested([erase], new Date(), one.context);
      return await read(...about);
    };
    await one.send();
    expect(slack.got).toEqual([]);
  });

  test('tells nobody of a test', async () => {
    const slack = await receiver();
    const one = await unhappy(`{ receivers: { support-leads: { slack: "${slack.url}" } } }`);
    await one.store.update('p.1', (now) => ({
      journey: { ...now, test: { contact: { kind: 'email', value: 'me@example.com' } } },
      trace: [],
    }));
    await one.act();
    await one.send();
    expect(slack.got).toEqual([]);
  });
});
