import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { PreflightContext, SetupStep } from '../../../../core/connector/contract.ts';
import { CloseloopError } from '../../../../core/errors.ts';
import { ControlError } from '../../../../standins/kit/control.ts';
import type { CustomObject, KeyedField } from '../../../../standins/zendesk/definitions.ts';
import {
  type Account,
  about,
  hookUrl,
  ids,
  openAccount,
  secret,
  writeBack,
} from '../../../support/connectors/zendesk/preflight.ts';

let account: Account;
beforeEach(async () => {
  account = await openAccount();
  account.standin.setWebhook({ url: hookUrl, secrets: [secret] });
});
afterEach(() => account.close());

const going: PreflightContext = { ...about, reads: [] };

async function steps(settings: object = {}): Promise<SetupStep[]> {
  return (await account.open(settings).setup?.(going)) ?? [];
}
const whats = async (settings: object = {}) => (await steps(settings)).map(({ what }) => what);
const check = async (settings: object = {}) => (await account.open(settings).check?.(going)) ?? [];

async function apply(all: readonly SetupStep[]): Promise<void> {
  for (const step of all) await step.apply();
}

function objectOf(key = 'feedback'): CustomObject {
  const object = account.standin.admin.customObjects.get(key);
  if (object === undefined) throw new ControlError(`there is no custom object ${key}`);
  return object;
}
function userField(key: string): KeyedField {
  const field = [...account.standin.admin.userFields.values()].find((one) => one.key === key);
  if (field === undefined) throw new ControlError(`there is no user field ${key}`);
  return field;
}
const tagsOf = ({ options }: { options: { value: string }[] }): string[] => options.map(({ value }) => value);
const options = (...values: string[]) => values.map((value) => ({ name: `stars ${value}`, value }));
const wrote = (part: object) => ({ writeBack: { ...writeBack, ...part } });

/** A grade in a dropdown of users, whose tags no ticket field has. */
const inUserDropdown = () => {
  account.standin.addUserField({ key: 'mood', type: 'dropdown', options: options('1', '2') });
  account.standin.ticketField(ids.grade).type = 'integer';
  account.standin.ticketField(ids.grade).options = [];
};
const userDropdown = wrote({ userFields: { grade: 'mood' } });
const newObject = wrote({ customObject: { object: 'survey_answers', grade: 'grade', comment: 'said', ticket: 'on' } });

interface Row {
  plant?: () => unknown;
  settings?: object;
  found: [at: string, words: RegExp][];
  done: string[];
}
const rows: [name: string, row: Row][] = [
  [
    'a custom object that does not exist, with its fields',
    {
      settings: newObject,
      found: [['writeBack.customObject.object', /no custom object with the key "survey_answers".*closeloop setup/]],
      done: [
        'create the custom object "survey_answers"',
        'create the field "grade" of the custom object "survey_answers" (integer)',
        'create the field "said" of the custom object "survey_answers" (textarea)',
        'create the field "on" of the custom object "survey_answers" (text)',
      ],
    },
  ],
  [
    'fields that the custom object lacks',
    {
      settings: wrote({ customObject: { object: 'feedback', grade: 'score', answeredAt: 'at', ticket: 'number' } }),
      found: [
        [
          'writeBack.customObject.grade',
          /field "score" of the custom object "feedback" does not exist.*closeloop setup/,
        ],
        ['writeBack.customObject.answeredAt', /field "at" of the custom object "feedback" does not exist/],
        [
          'writeBack.customObject.ticket',
          /field "number" of the custom object "feedback" does not exist.*closeloop setup/,
        ],
      ],
      done: [
        'create the field "score" of the custom object "feedback" (integer)',
        'create the field "at" of the custom object "feedback" (date)',
        'create the field "number" of the custom object "feedback" (text)',
      ],
    },
  ],
  [
    'options that a dropdown of the custom object lacks',
    {
      plant: () =>
        account.standin.addCustomObject({
          key: 'feedback',
          fields: [
            { key: 'grade', type: 'dropdown', options: options('1', '2', '3') },
            { key: 'ticket', type: 'text' },
          ],
        }),
      found: [['writeBack.customObject.grade', /"4", "5": Zendesk drops.*closeloop setup/]],
      done: ['add the options "4", "5" to the field "grade" of the custom object "feedback"'],
    },
  ],
  [
    'a user field that does not exist',
    {
      settings: wrote({ userFields: { grade: 'feedback_grade', answeredAt: 'feedback_at' } }),
      found: [
        ['writeBack.userFields.grade', /"feedback_grade" does not exist.*closeloop setup/],
        ['writeBack.userFields.answeredAt', /"feedback_at" does not exist/],
      ],
      done: ['create the user field "feedback_grade" (integer)', 'create the user field "feedback_at" (date)'],
    },
  ],
  [
    "options that a user's dropdown lacks",
    {
      plant: inUserDropdown,
      settings: userDropdown,
      found: [['writeBack.userFields.grade', /"3", "4", "5".*closeloop setup/]],
      done: ['add the options "3", "4", "5" to the user field "mood"'],
    },
  ],
  [
    "options that a ticket's dropdown lacks",
    {
      plant: () => account.standin.ticketField(ids.grade).options.splice(0, 3),
      found: [['writeBack.grade', /"1", "2", "3".*closeloop setup/]],
      done: [`add the options "1", "2", "3" to the ticket field ${ids.grade} "Grade"`],
    },
  ],
  [
    'options that a multi-select lacks',
    {
      plant: () => {
        account.standin.ticketField(ids.grade).type = 'multiselect';
        account.standin.ticketField(ids.grade).options.splice(4);
      },
      found: [['writeBack.grade', /"5".*closeloop setup/]],
      done: [`add the options "5" to the ticket field ${ids.grade} "Grade"`],
    },
  ],
  [
    'options that a dropdown for the status lacks',
    {
      plant: () => Object.assign(account.standin.ticketField(ids.status), { type: 'tagger' }),
      settings: wrote({ noAnswer: true }),
      found: [['writeBack.status', /"fb_answered", "fb_no_answer".*closeloop setup/]],
      done: [`add the options "fb_answered", "fb_no_answer" to the ticket field ${ids.status} "State"`],
    },
  ],
];

describe('check finds, setup mends, and then neither has anything to say of', () => {
  test.each(rows)('%s', async (_name, { plant, settings, found, done }) => {
    plant?.();
    const before = await check(settings);
    expect(before.map(({ level, at }) => [level, at])).toEqual(found.map(([at]) => ['error', at]));
    for (const [i, { problem, remedy }] of before.entries()) {
      expect(`${problem} ${remedy}`).toMatch(found[i]?.[1] ?? /never/);
    }

    const all = await steps(settings);
    expect(all.map(({ what }) => what)).toEqual(done);
    await apply(all);
    expect(await check(settings)).toEqual([]);
    expect(await whats(settings)).toEqual([]);
  });
});

test('what it makes takes an answer: on a closed ticket, in the custom object', async () => {
  const settings = wrote({ ...newObject.writeBack, whenClosed: ['customObject'], userFields: undefined });
  await apply(await steps(settings));
  const { id } = account.standin.addTicket({ requesterId: account.standin.addUser({}).id, status: 'closed' });
  const answer = { recordId: String(id), status: 'answered' as const, marker: 'j1.1', campaign: 'Support' };
  const results = await account
    .open(settings)
    .writeBack([{ ...answer, grade: 4, comment: 'Fine', answeredAt: new Date() }]);
  expect(results).toMatchObject([{ ok: true, findings: [] }]);
  expect(account.standin.objectRecords('survey_answers')).toMatchObject([
    { externalId: `ticket-${id}`, fields: { grade: 4, said: 'Fine', on: String(id) } },
  ]);
});

test('every option that was there stays as it is, names in placeholders included', async () => {
  const { standin } = account;
  standin.admin.dynamicContent.set('awful', 'Schrecklich');
  inUserDropdown();
  const object = standin.addCustomObject({
    key: 'feedback',
    fields: [
      { key: 'grade', type: 'dropdown', options: [{ name: '{{dc.awful}}', value: '1' }, ...options('2', 'x')] },
      { key: 'ticket', type: 'text' },
    ],
  });
  const fields = [object.fields[0], userField('mood')];
  const before = fields.map((field) => field?.options.map((option) => ({ ...option })));
  await apply(await steps(userDropdown));
  const after = fields.map((field, i) => field?.options.slice(0, before[i]?.length));
  expect(after).toEqual(before);
  expect(fields.map((field) => field && tagsOf(field))).toEqual([
    ['1', '2', 'x', '3', '4', '5'],
    ['1', '2', '3', '4', '5'],
  ]);
});

describe('a grade whose tag can not be added is told by check, and left alone by setup:', () => {
  const lacking = () => account.standin.ticketField(ids.grade).options.splice(3);
  const cases: [name: string, plant: () => unknown, words: RegExp, settings?: object][] = [
    [
      'another dropdown of tickets has it',
      () => account.standin.addTicketField({ title: 'Mood', type: 'tagger', options: options('5') }),
      /"5" belongs to ticket field \d+ "Mood"/,
    ],
    [
      'an inactive multi-select has it',
      () => account.standin.addTicketField({ title: 'Why', type: 'multiselect', active: false, options: options('4') }),
      /"4" belongs to ticket field \d+ "Why"/,
    ],
    [
      'a checkbox has it',
      () => account.standin.addTicketField({ title: 'VIP', type: 'checkbox', tag: '4' }),
      /"4" belongs to ticket field \d+ "VIP"/,
    ],
    [
      'a dropdown of users has it',
      () => account.standin.addUserField({ key: 'mood', type: 'dropdown', options: options('5') }),
      /"5" belongs to user field "mood"/,
    ],
    ['it has a space', () => {}, /"very good" has a space/, wrote({ gradeValues: { 5: 'very good' } })],
  ];
  test.each(cases)('%s', async (_name, plant, words, settings) => {
    lacking();
    plant();
    const found = await check(settings);
    expect(found).toMatchObject([{ level: 'error', at: 'writeBack.grade', problem: expect.stringMatching(words) }]);
    expect(found[0]?.remedy).toMatch(/other tags in writeBack.gradeValues/);
    expect(await whats(settings)).toEqual([]);
  });

  test("a user's dropdown never gets the tags of the ticket's", async () => {
    account.standin.addUserField({ key: 'mood', type: 'dropdown', options: options('x') });
    expect(await check(userDropdown)).toMatchObject([
      { level: 'error', at: 'writeBack.userFields.grade', remedy: expect.stringContaining('a number field') },
    ]);
    expect(await whats(userDropdown)).toEqual([]);
  });

  test("nor those that setup is about to give the ticket's", async () => {
    account.standin.addUserField({ key: 'mood', type: 'dropdown', options: options('1x') });
    lacking();
    for (const gradeValues of [{}, { 1: 'm1', 2: 'm2', 3: 'm3', 4: 'm4', 5: 'm5' }]) {
      const both = wrote({ userFields: { grade: 'mood' }, gradeValues });
      const all = await steps(both);
      expect(all.map(({ what }) => what)).toEqual([expect.stringMatching(/^add the options .* to the ticket field/)]);
    }
    const madeHere = wrote({ grade: 'New grade', userFields: { grade: 'mood' }, gradeValues: { 1: 'n1' } });
    account.standin.ticketField(ids.grade).options = [];
    expect(await whats(madeHere)).toEqual(['create the ticket field "New grade" (dropdown: n1, 2, 3, 4, 5)']);
  });
});

test('an inactive field for the ticket is found, and not made again', async () => {
  Object.assign(objectOf().fields[1] ?? {}, { active: false });
  expect(await check()).toMatchObject([
    { level: 'error', at: 'writeBack.customObject.ticket', problem: expect.stringContaining('inactive') },
  ]);
  expect(await whats()).toEqual([]);
});

describe('applied again after its answer got lost, it does nothing twice:', () => {
  const lackOptions = () => {
    inUserDropdown();
    objectOf().fields[0] = {
      ...account.standin.addUserField({ key: 'shape', type: 'dropdown', options: options('9') }),
    };
    Object.assign(objectOf().fields[0] ?? {}, {
      key: 'grade',
      options: options('1').map((one) => ({ id: 1, ...one })),
    });
  };
  test.each([
    ['the custom object', 'POST', 'custom_objects$', newObject, () => {}],
    ['a field of the custom object', 'POST', 'survey_answers/fields$', newObject, () => {}],
    ['options of the custom object', 'PATCH', 'fields/grade$', userDropdown, lackOptions],
    ['an option of a user field', 'POST', 'mood/options', userDropdown, lackOptions],
    ['a user field', 'POST', 'user_fields', wrote({ userFields: { grade: 'nine' } }), () => {}],
  ])('%s', async (_name, method, path, settings, plant) => {
    plant();
    const all = await steps(settings);
    account.standin.faults.add({ path, method, then: 'work-then-cut' });
    const failures: unknown[] = [];
    for (const step of all) {
      await step.apply().catch((error: unknown) => failures.push(error));
      await step.apply();
    }
    expect(failures).toEqual([expect.any(CloseloopError)]);
    expect(await check(settings)).toEqual([]);
    expect(await whats(settings)).toEqual([]);
    const held = [...account.standin.admin.userFields.values(), ...objectOf().fields];
    for (const field of held) expect(new Set(tagsOf(field)).size).toBe(field.options.length);
  });
});

test('two sources that are set up together make nothing twice', async () => {
  const settings = wrote({ ...newObject.writeBack, comment: 'Said', userFields: { grade: 'nine' } });
  const plans = await Promise.all([steps(settings), steps(settings)]);
  await apply(plans.flat());
  expect(await check(settings)).toEqual([]);
  const creations = Object.entries(account.standin.callCounts()).filter(([call]) =>
    /^POST .*(fields|objects)/.test(call),
  );
  expect(Object.fromEntries(creations)).toEqual({
    'POST /api/v2/ticket_fields': 1,
    'POST /api/v2/user_fields': 1,
    'POST /api/v2/custom_objects': 1,
    'POST /api/v2/custom_objects/{key}/fields': 3,
  });
});

test('a person who adds an option meanwhile keeps it', async () => {
  account.standin.addCustomObject({
    key: 'feedback',
    fields: [
      { key: 'grade', type: 'dropdown', options: options('1', '2', '3', '4') },
      { key: 'ticket', type: 'text' },
    ],
  });
  const all = await steps();
  objectOf().fields[0]?.options.push({ id: 77, name: 'Late', value: 'late' });
  await apply(all);
  expect(tagsOf(objectOf().fields[0] ?? { options: [] })).toEqual(['1', '2', '3', '4', 'late', '5']);
});

test.each([
  ['no right to create', { clientScopes: ['read', 'write', 'tickets:write'] }, 'agent' as const, /this needs an admin/],
  ['no room in the plan', { customObjects: 1 }, 'admin' as const, /plan has no room/],
])('it says what to do where there is %s', async (_name, admin, apiRole, words) => {
  const [first] = await steps(newObject);
  Object.assign(account.standin.admin.settings, admin);
  account.standin.changeSettings({ apiRole });
  const failure: unknown = await first?.apply().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(CloseloopError);
  expect(String(failure)).toMatch(words);
});
