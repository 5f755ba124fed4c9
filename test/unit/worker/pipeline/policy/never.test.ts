import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evaluateAll } from '../../../../../core/mapping/expression.ts';
import type { NeverCondition } from '../../../../../worker/config/never.ts';
import { Rule } from '../../../../../worker/config/rule.ts';
import { chooseRule } from '../../../../../worker/pipeline/policy/decide.ts';
import { loadNever } from '../../../../../worker/pipeline/policy/load-never.ts';
import { neverByPerson, neverByRecord, unfitAddress } from '../../../../../worker/pipeline/policy/never.ts';
import { loadRule } from '../../../../../worker/pipeline/rules.ts';

const parts = {
  tags: ['ticket.tags'],
  groups: ['ticket.group.name', 'ticket.group.id'],
  openedAt: ['ticket.createdAt'],
  replies: ['ticket.replies'],
};
const options = {
  connector: { parts },
  ownDomains: ['acme.helpdesk.com'],
  lists: new Map([['list.txt', new Set(['ann@b.ee', '+37255512345'])]]),
  defaultCountry: 'EE' as const,
};
const shape = {
  ticket: {
    tags: ['vip', 'no_survey'],
    group: { id: '2001', name: 'Internal IT' },
    createdAt: '2026-11-22T10:00:00Z',
    replies: 0,
  },
};
const closedAt = new Date('2026-11-22T10:01:00Z');

describe('neverByRecord', () => {
  test.each<[string, NeverCondition, string | undefined]>([
    ['names the tag as it is configured', { tags: ['other', 'NO_survey'] }, 'tag NO_survey (never)'],
    ['passes over other tags', { tags: ['no'] }, undefined],
    ['takes a reason for none where the tag is not there', { tags: ['no'], reason: 'spam' }, undefined],
    ['knows a group by its name', { groups: ['internal it'] }, 'group internal it (never)'],
    ['knows a group by its id', { groups: ['2001'] }, 'group 2001 (never)'],
    ['counts from opening to closing: too short', { handledIn: { under: 61_000 } }, 'handled in under 1m1s (never)'],
    ['counts from opening to closing: long enough', { handledIn: { under: 60_000 } }, undefined],
    ['counts from opening to closing: too long', { handledIn: { over: 59_000 } }, 'handled in over 59s (never)'],
    ['counts from opening to closing: not too long', { handledIn: { over: 60_000 } }, undefined],
    ['knows that nobody replied', { noReply: true }, 'no agent has replied (never)'],
    ['takes a reason of its own', { noReply: true, reason: 'spam, probably' }, 'spam, probably (never)'],
  ])('%s', async (_, condition, why) => {
    const skip = await neverByRecord(loadNever([condition], options), shape, closedAt);
    expect(skip).toEqual(why === undefined ? undefined : { reason: 'never', why });
  });

  test('of several replies one is enough, and spaces around a tag do not count', async () => {
    const conditions: NeverCondition[] = [{ noReply: true }, { handledIn: { over: 0 } }, { tags: ['vip'] }];
    const ticket = { replies: [0, 2], createdAt: 5, tags: [' VIP '] };
    const skip = await neverByRecord(loadNever(conditions, options), { ticket }, closedAt);
    expect(skip?.why).toBe('tag vip (never)');
  });

  test('what the record does not tell excludes nobody', async () => {
    const all: NeverCondition[] = [
      { tags: ['undefined'] },
      { groups: ['undefined', 'null'] },
      { handledIn: { under: 9e9, over: 0 } },
      { noReply: true },
    ];
    expect(await neverByRecord(loadNever(all, options), { ticket: {} }, closedAt)).toBeUndefined();
    const ofOpen = { ticket: { tags: [], group: { name: null }, createdAt: null, replies: null } };
    expect(
      await neverByRecord(loadNever(all.slice(0, 1).concat(all.slice(2)), options), ofOpen, closedAt),
    ).toBeUndefined();
  });
});

describe('neverByPerson', () => {
  const { contact } = loadRule(Rule.parse({ name: 'r', campaign: 1, contact: ['customer.phones', 'customer.email'] }));
  const judge = async (customer: object, conditions: NeverCondition[]) =>
    neverByPerson(loadNever(conditions, options), await evaluateAll(contact, { customer }), contact)?.why;

  test.each<[string, object, NeverCondition[], string | undefined]>([
    ['an own domain', { email: 'Ann@Acme.com' }, [{ ownDomains: ['acme.com'] }], 'own domain (never)'],
    ['one below it', { email: 'ann@mail.acme.com' }, [{ ownDomains: ['acme.com'] }], 'own domain (never)'],
    ['another that only ends alike', { email: 'ann@notacme.com' }, [{ ownDomains: ['acme.com'] }], undefined],
    ['one that the connector knows', { email: 'help@acme.helpdesk.com' }, [], 'own domain (never)'],
    [
      'an own domain, where the rule would ask by phone',
      { phones: ['+37255500000'], email: 'ann@acme.com' },
      [{ ownDomains: ['acme.com'] }],
      'own domain (never)',
    ],
    ['a listed address', { email: ' ANN@b.ee' }, [{ contactsIn: 'list.txt' }], 'on the list list.txt (never)'],
    ['a listed number', { phones: ['x', '5551 2345'] }, [{ contactsIn: 'list.txt' }], 'on the list list.txt (never)'],
    [
      'a number in digits',
      { phones: [{}, true, 55512345] },
      [{ contactsIn: 'list.txt' }],
      'on the list list.txt (never)',
    ],
    [
      'one beside what is none',
      { phones: ['..', '5551 2345'] },
      [{ contactsIn: 'list.txt' }],
      'on the list list.txt (never)',
    ],
    ['one of several', { email: 'a@acme.com' }, [{ ownDomains: ['b.ee', 'acme.com'] }], 'own domain (never)'],
    ['a reason', { email: 'ann@b.ee' }, [{ contactsIn: 'list.txt', reason: 'objected' }], 'objected (never)'],
    ['nobody listed', { email: 'bob@b.ee' }, [{ contactsIn: 'list.txt' }], undefined],
    ['no contact at all', {}, [{ contactsIn: 'list.txt' }, { ownDomains: ['acme.com'] }], undefined],
  ])('knows %s', async (_, customer, conditions, why) => {
    expect(await judge(customer, conditions)).toBe(why);
  });
});

test('conditions are told as they were written, and a list has to have been read', async () => {
  const conditions: NeverCondition[] = [
    { tags: ['a', 'b'], handledIn: { under: 60_000, over: 3_600_000 }, noReply: true },
    { handledIn: { over: 60_000 } },
    { groups: ['x'], handledIn: { under: 60_000 } },
    { ownDomains: ['a.ee', 'b.ee'] },
    { contactsIn: 'list.txt' },
  ];
  const plain = { ...options, ownDomains: [] };
  const { ofRecord, ofPerson } = loadNever(conditions, plain);
  expect([...ofRecord, ...ofPerson].map(({ what }) => what)).toEqual([
    ...[
      'tags: a, b',
      'handledIn: under 1m, over 1h',
      'noReply',
      'handledIn: over 1m',
      'groups: x',
      'handledIn: under 1m',
    ],
    ...['ownDomains: a.ee, b.ee', 'contactsIn: list.txt'],
  ]);
  const bare = loadNever([{ tags: ['a'] }], { ...plain, connector: { parts: {} } });
  expect([bare.ofRecord.map(({ reads }) => reads), bare.ofPerson]).toEqual([[[]], []]);
  const [unread] = loadNever([{ contactsIn: 'none.txt' }], plain).ofPerson;
  expect(() => unread?.reasonFor(['a@b.ee'])).toThrow(
    expect.objectContaining({ message: 'none.txt was not read', advice: { kind: 'config' } }),
  );
  const of = (when: string) => loadNever([{ when }], plain).expressions[0]?.why;
  const long = `a = "${'x'.repeat(74)}`;
  expect(of(`${long}"`)).toBe(`\`${long}"\` is true (never)`);
  expect(of(` a  =\n"${'x'.repeat(75)}" `)).toBe(`\`${long}…\` is true (never)`);
});

describe('chooseRule with conditions of never', () => {
  const rules = (...whens: (string | undefined)[]) =>
    whens.map((when, i) => loadRule(Rule.parse({ name: `r${i}`, campaign: 1, contact: 'a', ...(when && { when }) })));
  const never = (...conditions: NeverCondition[]) => loadNever(conditions, options).expressions;

  test('what the first rule would leave to the second, none takes', async () => {
    const [one, two] = ['$not("no_survey" in ticket.tags)', 'true'];
    expect((await chooseRule(rules(one, two), shape)).rule?.name).toBe('r1');
    expect(await chooseRule(rules(one, two), shape, never({ when: '"no_survey" in ticket.tags' }))).toEqual({
      rule: undefined,
      skip: { reason: 'never', why: '`"no_survey" in ticket.tags` is true (never)' },
    });
  });

  test('one that cannot be evaluated asks nobody', async () => {
    expect(await chooseRule(rules(undefined), shape, never({ when: '$number("x") > 1' }))).toMatchObject({
      skip: { reason: 'condition-failed', why: expect.stringMatching(/^a condition of never could not be evaluated/) },
    });
  });

  test('whatever the rules are, and wherever it stands, it wins; without it the choice is the same', async () => {
    const conditions = fc.constantFrom('false', 'true', 'ticket.replies', '$uppercase("a") = "A"', '$exists(nothing)');
    await fc.assert(
      fc.asyncProperty(fc.array(conditions), fc.array(conditions), async (whens, nevers) => {
        const holds = (when: string) => ['true', '$uppercase("a") = "A"'].includes(when);
        const found = await chooseRule(rules(...whens), shape, never(...nevers.map((when) => ({ when }))));
        const alone = await chooseRule(rules(...whens), shape);
        if (nevers.some(holds)) expect(found).toMatchObject({ skip: { reason: 'never' } });
        else expect(found.rule?.name).toBe(alone.rule?.name);
      }),
      { numRuns: 60 },
    );
  });
});

test('unfitAddress passes machines and made-up domains over, unless it is told to ask them, or nothing is sent in earnest', () => {
  const of = (askAnyway: ('reserved-domains' | 'role-addresses')[], isRehearsal = false) => {
    const why = unfitAddress({ askAnyway }, { isRehearsal });
    return ['ann@example.com', 'noreply@acme.com', 'ann@acme.com'].map(why);
  };
  const [reserved, role] = ['an address of a domain that nobody can have', 'an address that no person reads'];
  expect(of([])).toEqual([reserved, role, undefined]);
  expect(of(['reserved-domains'])).toEqual([undefined, role, undefined]);
  expect(of(['role-addresses'])).toEqual([reserved, undefined, undefined]);
  expect(of([], true)).toEqual([undefined, role, undefined]);
});
