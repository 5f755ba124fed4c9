import { expect, test } from 'vitest';
import type { PresentedRecord } from '../../../../../core/connector/contract.ts';
import { FeedbackError } from '../../../../../core/feedback/failure.ts';
import {
  asCampaignFault,
  type Closing,
  campaignFault,
  decide,
  rulesProblems,
} from '../../../../../worker/pipeline/policy/decide.ts';
import { inEachCampaign } from '../../../../../worker/pipeline/rules.ts';
import { dryRunName } from '../../../../../worker/redis/keys.ts';
import { campaignWith, decisionContext } from '../../../../support/worker/pipeline/policy.ts';

const hour = 3_600_000;
const now = new Date('2026-11-24T10:00:00Z');
const ago = (hours: number) => new Date(now.getTime() - hours * hour);
const email = 'erika@acme.ee';
const all = '{ name: all, campaign: 12, contact: customer.email }';
const all2 = all.replace(' }', ', again: each closing }');
const text = { type: 'sms' };

interface Given {
  rules?: string;
  general?: string;
  campaign?: object;
  closing?: Partial<Closing>;
  record?: Partial<PresentedRecord>;
}
const customer = (more: object) => ({ record: { shape: { customer: more } } });

async function verdict({ rules = all, general = '', campaign, closing, record }: Given) {
  const context = decisionContext(rules, { general, campaigns: [campaignWith(campaign)] });
  const shape = { customer: { email }, ticket: { store: 'Tartu', tags: ['press'] } };
  const presented: PresentedRecord = {
    ...{ id: 'x', currentId: 'x', state: { is: 'closed', closing: 'one', closedAt: ago(1) }, shape },
    ...record,
  };
  const history = { latest: undefined, asked: undefined };
  return await decide({ journeyId: 'x.1', closedAt: ago(1), history, ...closing }, presented, context, now);
}

const asked = (id: string, more: object = {}) => ({ history: { latest: id, asked: id, ...more } });
const numberIn = (name: string) => ({ name, field_type: 'Integer', required: true, choices: [] });
const skips: [what: string, given: Given, reason: string, why: string | RegExp, trace?: string[]][] = [
  [
    'never, by the record',
    { general: 'policy: { never: [\'ticket.store = "Tartu"\'] }' },
    'never',
    /is true \(never\)$/,
  ],
  ['never, by a tag', { general: 'policy: { never: [{ tags: [press] }] }' }, 'never', 'tag press (never)', []],
  [
    'never, by the person',
    { general: 'policy: { never: [{ ownDomains: [acme.ee] }] }' },
    'never',
    'own domain (never)',
  ],
  ['no rule', { rules: all.replace(' }', ", when: 'false' }") }, 'no-rule', 'no rule\'s condition is true ("all")'],
  [
    'no campaign in their language',
    { rules: all.replace('12', '{ et: 12 }'), record: { locale: 'fi-FI' } },
    'language',
    "no campaign for the customer's language (fi-fi)",
    ['rule "all", no campaign'],
  ],
  [
    '… nor for one of no language',
    { rules: all.replace('12', '{ et: 12 }') },
    'language',
    "no campaign for the customer's language (not known)",
  ],
  [
    'asked already, by a rule that asks once',
    { closing: { ...asked('x.0'), journeyId: 'x.1' } },
    'asked-already',
    "this record's customer was asked already: journey desk/x.0 (again: never)",
    ['rule "all", campaign 12'],
  ],
  [
    'asked about the same closing under another name',
    { rules: all2, closing: asked('x.0', { askedClosedAt: ago(1) }) },
    'asked-already',
    "this record's customer was asked already about this closing, or a later one: journey desk/x.0",
  ],
  ['outside of the sample', { rules: all.replace(' }', ', sample: 1% }') }, 'sample', 'outside the sample of 1 %'],
  ['too old', { closing: { closedAt: ago(100) } }, 'too-old', 'too old to ask: closed 4d4h ago (maxAge 3d)'],
  ['too late for its plan', { closing: { dueAt: ago(100), backfilled: true } }, 'too-old', /4d4h later than planned/],
  [
    'a field that takes no such value',
    {
      rules: all.replace(' }', ', fields: { Shop: ticket.store } }'),
      campaign: { custom_fields: [{ name: 'Shop', field_type: 'Choice', required: true, choices: ['Riga'] }] },
    },
    'fields',
    /^custom fields: "Shop" /,
  ],
  [
    'several of them',
    {
      rules: all.replace(' }', ', fields: { A: ticket.store, B: ticket.store } }'),
      campaign: { custom_fields: [numberIn('A'), numberIn('B')] },
    },
    'fields',
    /^custom fields: "A" .+; "B" /,
  ],
  ['no contact', customer({}), 'no-contact', 'no usable contact: customer.email: empty'],
  [
    'none that the campaign reaches',
    { campaign: text, rules: all.replace('customer.email', '[customer.phone, customer.email]') },
    'no-contact',
    /^no usable contact: customer\.phone: empty; customer\.email: .+/,
  ],
  [
    'a machine',
    customer({ email: 'noreply@acme.ee' }),
    'no-contact',
    /an address that no person reads/,
    ['rule "all", campaign 12', 'custom fields: none'],
  ],
  [
    'no hour',
    {
      rules: all.replace('email', 'phone'),
      ...customer({ phone: '+37255512345' }),
      campaign: { ...text, send_from: '22:00:00', send_until: '23:00:00' },
      general: 'policy: { sms: { from: "08:00", until: "21:00" } }',
    },
    'no-time',
    /never open together/,
  ],
];
test.each(skips)('nobody is asked: %s', async (_what, given, reason, why, trace) => {
  const found = await verdict(given);
  expect(found).toMatchObject({ do: 'skip', reason, why: typeof why === 'string' ? why : expect.stringMatching(why) });
  if (trace) expect(found.trace).toEqual(trace);
  if (found.do === 'skip' && found.trace.length > 0) expect(found.rule?.name).toBe('all');
  if (found.do === 'skip' && found.reason !== 'language') expect(found.campaignId).toBe(found.rule && 12);
});

const asks: [what: string, given: Given][] = [
  ['a usual closing', {}],
  ['a closing that was asked about by this journey', { closing: asked('x.1') }],
  [
    'a later closing, by a rule that asks about each',
    { rules: all2, closing: asked('x.0', { askedClosedAt: ago(2) }) },
  ],
  ['a closing of which nobody knows when the earlier was', { rules: all2, closing: asked('x.0') }],
  ['a closing after a test', { closing: asked('x.0', { wasTest: true }) }],
  ['a closing of the whole sample', { rules: all.replace(' }', ', sample: 100% }') }],
  ['an old one that a person wants asked about', { closing: { closedAt: ago(900), backfilled: true } }],
  ['an old one that may have been asked about', { closing: { closedAt: ago(900), dueAt: ago(900), searched: {} } }],
  [
    'an old one by a rule for any age',
    { rules: all.replace(' }', ', maxAge: false }'), closing: { closedAt: ago(900) } },
  ],
];
test.each(asks)('a customer is asked: %s', async (_what, given) => {
  expect(await verdict(given)).toMatchObject({
    do: 'ask',
    campaign: { id: 12 },
    contact: { kind: 'email', value: email },
  });
});

test('a test that was asked counts while test mode holds', async () => {
  const general = 'policy: { test: { email: me@acme.ee } }';
  expect(await verdict({ general, closing: asked('x.0', { wasTest: true }) })).toMatchObject({
    reason: 'asked-already',
  });
});

test('maxAge is the rule’s, else the source’s, else the policy’s', async () => {
  const general = 'policy: { maxAge: 2d }';
  const closing = { closedAt: ago(60) };
  expect(await verdict({ general, closing })).toMatchObject({ why: expect.stringContaining('(maxAge 2d)') });
  expect(await verdict({ general, closing, rules: all.replace(' }', ', maxAge: 4d }') })).toMatchObject({ do: 'ask' });
});

test('who is asked, with which values and when, and the trace says why', async () => {
  const rules = `{ name: all, campaign: { et: 12 }, contact: [customer.phone, customer.email, customer.other], delay: 2h,
    fields: { Shop: ticket.store, Agent: ticket.agent, Day: ticket.at } }`;
  const custom_fields = ['Shop', 'Agent', 'Day', 'closeloop'].map((name) => ({
    name,
    field_type: name === 'Day' ? 'Date' : 'Text',
    required: false,
    choices: [],
  }));
  const shape = {
    customer: { email, phone: '12', other: 'second@acme.ee' },
    ticket: { store: 'Tartu', at: '2026-11-20T22:30:00Z' },
  };
  const found = await verdict({
    ...{ rules, campaign: { custom_fields }, record: { shape, locale: 'et', country: 'EE', timeZone: 'Europe/Riga' } },
  });
  expect(found).toMatchObject({
    ...{ do: 'ask', rule: { name: 'all', campaign: 12 }, contact: { kind: 'email', value: email } },
    ...{ contactFrom: 'customer.email', others: ['second@acme.ee'], values: { Shop: 'Tartu', Day: '2026-11-21' } },
    ...{ sources: { Shop: 'ticket.store' }, place: { country: 'EE', timeZone: 'Europe/Riga' } },
    ...{ dueAt: new Date('2026-11-24T11:00:00Z'), until: undefined, timing: [expect.stringContaining("rule's delay")] },
  });
  expect(found.trace).toEqual([
    'rule "all", campaign 12 (language et: et)',
    'custom fields: Shop from ticket.store, Day from ticket.at',
    'custom field "Agent" is left out: ticket.agent found nothing',
    expect.stringMatching(/^contact: email; not customer\.phone: /),
    expect.stringContaining("the rule's delay of 2h ends"),
    'to be asked at 2026-11-24T11:00:00.000Z',
  ]);
});

test('one who is hurried is asked without the delay', async () => {
  const given = { rules: all.replace(' }', ', delay: 2h }'), closing: { closedAt: now } };
  expect(await verdict(given)).toMatchObject({ dueAt: new Date('2026-11-24T12:00:00Z') });
  const hurried = { ...given, closing: { closedAt: now, hurried: true } };
  expect(await verdict(hurried)).toMatchObject({ dueAt: now });
});

test('the sample goes by the name that the data is stored under, which a dry run shares', async () => {
  const given = { rules: all.replace(' }', ', sample: 50% }') };
  const of = async (source: string | undefined) =>
    await Promise.all(
      Array.from({ length: 24 }, async (_, i) => {
        const closing = { journeyId: `x.${i}`, ...(source !== undefined && { source }) };
        return (await verdict({ ...given, closing })).do;
      }),
    );
  expect(await of(dryRunName('desk'))).toEqual(await of(undefined));
  expect(await of('other')).not.toEqual(await of(undefined));
  expect(new Set(await of(undefined)).size).toBe(2);
});

test.each<[what: string, given: Given, says: string]>([
  [
    'a campaign that is not there',
    { rules: all.replace('12', '99') },
    'the account has no campaign 99, or it is a draft. Mend the rule, or activate the campaign',
  ],
  ['a campaign that nobody can be asked in', { campaign: { type: 'widget' } }, "campaign 12 is a widget's"],
  [
    'a field that is not there',
    { rules: all.replace(' }', ', fields: { Shop: ticket.store } }') },
    'source desk, rule "all": the campaign has no custom field "Shop"',
  ],
  [
    'all that is wrong at once',
    { campaign: { type: 'widget' }, rules: all.replace(' }', ', delay: 2h, maxAge: 1h }') },
    "too old to ask about; campaign 12 is a widget's",
  ],
  ['an age that its delay uses up', { rules: all.replace(' }', ', delay: 2h, maxAge: 1h }') }, 'maxAge (1h) must be'],
  [
    'a test contact of another kind',
    { campaign: text, general: 'policy: { test: { email: me@a.ee } }' },
    'has no phone',
  ],
])('a person has to mend %s', async (_what, given, says) => {
  await expect(verdict(given)).rejects.toMatchObject({
    advice: { kind: 'config', only: expect.stringMatching(/^(rule "all" in )?campaign \d+$/) },
    message: expect.stringContaining(says),
  });
});

test('a contact whose expression fails is one error of the journey', async () => {
  const failing = verdict({ rules: all.replace('customer.email', '$number(customer.email)') });
  await expect(failing).rejects.toMatchObject({ advice: { kind: 'permanent' } });
});

test('a mistake of the service’s own about the campaign passes, and every other error of reading it', async () => {
  const context = decisionContext(all);
  const failing = (status: number) => ({
    ...context,
    campaigns: { get: () => Promise.reject(new FeedbackError('x', { kind: 'permanent', doubtful: true }, { status })) },
  });
  const record = { id: 'x', currentId: 'x', state: { is: 'open' }, shape: {} } as const;
  const closing = { journeyId: 'x.1', closedAt: ago(1), history: { latest: undefined, asked: undefined } };
  const by = (status: number) => decide(closing, record, failing(status), now);
  await expect(by(403)).rejects.toMatchObject({ advice: { kind: 'config', only: 'campaign 12', doubtful: true } });
  await expect(by(500)).rejects.toBeInstanceOf(FeedbackError);
  const cause = new FeedbackError('refused.', { kind: 'permanent' }, { status: 403 });
  expect(asCampaignFault(cause, 12)).toMatchObject({
    ...{ advice: { kind: 'config', only: 'campaign 12' }, cause },
    message: 'campaign 12: refused. Activate the campaign, or let the rule ask in another one.',
  });
  const other = new FeedbackError('x', { kind: 'permanent' }, { status: 400 });
  expect([asCampaignFault(other, 12), asCampaignFault('x', 12)]).toEqual([other, 'x']);
  for (const kind of ['transient', 'permanent'] as const)
    expect(campaignFault('x', 12, new FeedbackError('x', { kind })).advice).not.toHaveProperty('doubtful');
});

test('no rule has to map the marker, even where the campaign requires it', () => {
  const required = (name: string) =>
    campaignWith({ custom_fields: [{ name, field_type: 'Text', required: true, choices: [] }] });
  const context = decisionContext(all);
  const [rule] = context.rules.flatMap(inEachCampaign);
  if (rule === undefined) return expect.unreachable();
  expect(rulesProblems(rule.rule, required('closeloop'), context)).toEqual([]);
  expect(rulesProblems(rule.rule, required('Shop'), context)).toEqual([expect.stringContaining('requires')]);
});
