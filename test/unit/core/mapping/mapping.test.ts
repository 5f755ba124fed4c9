import { describe, expect, test } from 'vitest';
import { evaluateAll } from '../../../../core/mapping/expression.ts';
import type { FieldDefinition } from '../../../../core/mapping/field-value.ts';
import { applyMapping, checkMapping, compileMapping, type Mapping } from '../../../../core/mapping/mapping.ts';

const field = (name: string, field_type: FieldDefinition['field_type'], more: Partial<FieldDefinition> = {}) => ({
  name,
  field_type,
  required: false,
  choices: [],
  ...more,
});

const definitions: FieldDefinition[] = [
  field('Store', 'Choice', { required: true, choices: ['Kadriorg', 'Nõmme'] }),
  field('Visits', 'Integer'),
  field('Closed', 'Date'),
];

describe('checkMapping', () => {
  const meant = (name: string, other: string) => `the campaign has no custom field "${name}"; did you mean "${other}"?`;
  const unknown = (name: string) => `the campaign has no custom field "${name}"; it has "Store", "Visits", "Closed"`;
  const rows: [name: string, fields: Record<string, string>, problems: string[]][] = [
    ['has nothing to say about a good mapping', { Store: 'store', Visits: 'visits', Closed: '"2026-11-21"' }, []],
    ['knows what was meant', { Store: 'store', visit: 'visits' }, [meant('visit', 'Visits')]],
    [
      'knows what was meant by other case and spaces',
      { Store: 'store', '   STORE  ': 'store' },
      [meant('   STORE  ', 'Store')],
    ],
    ['forgives a slip in every third letter', { Store: 'store', vissitts: 'visits' }, [meant('vissitts', 'Visits')]],
    [
      'forgives two slips in a short name, not three',
      { Store: 'store', visi: 'visits', vis: 'visits' },
      [meant('visi', 'Visits'), unknown('vis')],
    ],
    ['lists the names where nothing is near', { Store: 'store', Colour: 'x' }, [unknown('Colour')]],
    [
      'names every required field that is missing, and everything else at once',
      { stoer: 'store', Visits: '"many"', Closed: '1 / 0' },
      [
        meant('stoer', 'Store'),
        'the campaign requires the custom field "Store", and the rule has no expression for it',
        '"Visits" (Integer): a text that isn\'t a whole number',
        '"Closed" (Date): The expression `1 / 0` failed: a number is out of range (a division by 0?)',
      ],
    ],
    [
      'finds a fixed value that is no choice',
      { Store: '"Lasnamäe"' },
      ['"Store" (Choice): a text that is none of the choices: "Kadriorg", "Nõmme"'],
    ],
    ['finds a required field always empty', { Store: '""' }, ['"Store" (Choice): it is required, and always empty']],
    ['lets a date be that of a fixed instant', { Store: 'store', Closed: '"2026-11-21T22:30:00Z"' }, []],
    ['lets a required one be fixed', { Store: '"nõmme"' }, []],
    ['lets an optional one be empty', { Store: 'store', Visits: 'null' }, []],
  ];
  for (const [name, fields, problems] of rows) {
    test(name, () => expect(checkMapping(compileMapping(fields), definitions)).toStrictEqual(problems));
  }

  test('says that a campaign has no fields at all', () => {
    expect(checkMapping(compileMapping({ Store: 'store' }), [])).toStrictEqual([
      'the campaign has no custom field "Store"; it has none',
    ]);
  });
});

const findings = (mapping: Mapping, shape: unknown) => evaluateAll([...mapping.values()], shape);

describe('applyMapping', () => {
  const apply = async (fields: Record<string, string>, shape: unknown) => {
    const mapping = compileMapping(fields);
    return applyMapping(mapping, await findings(mapping, shape), definitions, { timeZone: 'Europe/Tallinn' });
  };

  test('gives the values, and where each came from', async () => {
    const fields = { Closed: 'at', Store: '$trim(store)', Visits: 'visits' };
    expect(await apply(fields, { store: ' kadriorg ', visits: '3', at: '2026-11-21T22:30:00Z' })).toStrictEqual({
      ok: true,
      values: { Store: 'Kadriorg', Visits: 3, Closed: '2026-11-22' },
      sources: { Store: '$trim(store)', Visits: 'visits', Closed: 'at' },
    });
  });

  test('leaves out what is absent and not required', async () => {
    expect(await apply({ Store: 'store', Visits: 'visits' }, { store: 'Nõmme', visits: '' })).toStrictEqual({
      ok: true,
      values: { Store: 'Nõmme' },
      sources: { Store: 'store' },
    });
  });

  test('gives all or nothing, every problem at once, and no value', async () => {
    const fields = { Store: 'store', Visits: 'visits', Closed: 'name + 1', Stor: 'store' };
    expect(await apply(fields, { name: 'Mari', visits: 'Mari' })).toStrictEqual({
      ok: false,
      problems: [
        '"Store" is required, and store found nothing',
        '"Visits" (Integer): a text that isn\'t a whole number',
        '"Closed" (Date): The expression `name + 1` failed near character 6: + needs numbers on both sides',
        'the campaign has no custom field "Stor"; did you mean "Store"?',
      ],
    });
  });

  test('names a required field that is not mapped', async () => {
    expect(await apply({}, {})).toStrictEqual({ ok: false, problems: ['"Store" is required, and is not mapped'] });
  });
});

test('a required field in which nothing is to be seen stands in the way (audit 34)', async () => {
  const mapping = compileMapping({ Note: 'note' });
  const found = await findings(mapping, { note: '\u200b' });
  const applied = applyMapping(mapping, found, [field('Note', 'Text', { required: true })], { timeZone: 'UTC' });
  expect(applied).toEqual({ ok: false, problems: ['"Note" is required, and note found nothing'] });
});

test('fields may be called as JavaScript calls things of its own (audit 34)', async () => {
  const names = ['constructor', 'toString', '__proto__'];
  const mapping = compileMapping(Object.fromEntries(names.map((name) => [name, '"x"'])));
  const fields = names.map((name) => field(name, 'Text', { required: true }));
  const applied = applyMapping(mapping, await findings(mapping, {}), fields, { timeZone: 'UTC' });
  const values = Object.fromEntries(names.map((name) => [name, 'x']));
  expect(JSON.stringify(applied.ok && applied.values)).toBe(JSON.stringify(values));
  expect(checkMapping(mapping, [])).toHaveLength(3);
});
