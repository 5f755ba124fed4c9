import { describe, expect, test } from 'vitest';
import {
  combined,
  errorAt,
  hookUrlFindings,
  isSameUrl,
  manualStep,
  namesOf,
  type ShapeNames,
  setupSteps,
  unknownReads,
  unseenWebhook,
  warningAt,
} from '../../../../core/connector/check.ts';
import { VendorError } from '../../../../core/connector/classify.ts';
import { type DeskProbe, deskPreflight } from '../../../../core/connector/desk/preflight.ts';

test.each([
  ['https://hooks.example.com/hooks/shop', true],
  ['HTTPS://hooks.example.com:443/hooks/shop', true],
  ['https://hooks.example.com/hooks/shop/', false],
  ['no address', false],
])('%s leads to the hook: %s', (url, same) => {
  expect(isSameUrl(url, 'https://hooks.example.com/hooks/shop')).toBe(same);
});

describe('a vendor whose refusals tell what is wrong', () => {
  const refusal = (status: number, kind: 'config' | 'permanent') =>
    new VendorError('Deskly', {
      ...{ advice: { kind }, outcome: 'refused', status, code: '' },
      ...{ problem: 'no right to it', remedy: 'grant it' },
    });
  const check = (...probes: [DeskProbe, ...DeskProbe[]]) =>
    deskPreflight(
      'Deskly',
      {},
      {
        ...{ credential: 'token', shape: { names: {}, hint: '' }, isStandin: true, probes },
        isTold: ({ status }) => status === 451,
      },
    ).check({ grades: [], reads: [], answersWithinMs: 0 });
  const probe = (error?: Error): DeskProbe => ({
    ...{ at: 'fields', what: 'the fields' },
    tries: async () => {
      if (error) throw error;
    },
  });
  test.each<[what: string, error: VendorError, at: string]>([
    ['a refused credential at the credential', refusal(401, 'config'), 'token'],
    ['a lacking right at the credential', refusal(403, 'config'), 'token'],
    ['a 403 that no credential mends where it was met', refusal(403, 'permanent'), 'fields'],
    ['anything else where it was met', refusal(404, 'config'), 'fields'],
  ])('is told %s', async (_what, error, at) => {
    expect(await check(probe(error))).toEqual([errorAt(at, 'no right to it', 'grant it')]);
  });

  test('is asked for the rest, whatever else it refuses, but not after the first refusal', async () => {
    const read = async () => [warningAt('webhook', 'is off', 'switch it on')];
    const others = [probe(refusal(404, 'config')), { what: 'the webhooks', read }];
    const told = ['is off', 'no right to it'];
    expect((await check(probe(), ...others)).map(({ problem }) => problem)).toEqual(told);
    expect(await check(probe(refusal(404, 'config')), ...others)).toHaveLength(1);
  });

  test('is not told twice', async () => {
    expect(await check(probe(refusal(451, 'config')))).toEqual([]);
  });

  test('throws what is no refusal of the vendor', async () => {
    const bug = new TypeError('a bug');
    await expect(check(probe(bug))).rejects.toBe(bug);
  });
});

test.each<[hookUrl: string | undefined, isStandin: boolean, expected: RegExp[]]>([
  [undefined, false, [/^warning http.publicUrl is missing.*Set it to .* Deskly reaches/]],
  [undefined, true, [/^warning http.publicUrl is missing/]],
  ['http://hooks.example.com/hooks/shop', false, [/^error http.publicUrl is not https/]],
  ['http://127.0.0.1:8080/hooks/shop', true, []],
  ['https://hooks.example.com/hooks/shop', false, []],
])('the address %s, at a stand-in: %s', (hookUrl, isStandin, expected) => {
  const findings = hookUrlFindings('Deskly', hookUrl, isStandin);
  const lines = findings.map(({ level, at, problem, remedy }) => `${level} ${at} ${problem}; ${remedy}`);
  expect(lines).toEqual(expected.map((line) => expect.stringMatching(line)));
});

test('a step for a person tells what to do, and does nothing', async () => {
  const step = manualStep('enter the webhooks', '1. Open it.', '2. Save it.');
  expect([step.what, await step.apply()]).toEqual(['enter the webhooks', { note: '1. Open it.\n2. Save it.' }]);
});

describe('setup', () => {
  test('makes what is missing when a step is applied, not when it was told', async () => {
    const account = new Set(['b']);
    const itemOf = (id: string) => ({
      id,
      what: `create ${id}`,
      make: async () => {
        account.add(id);
        return { note: `made ${id}` };
      },
    });
    const steps = await setupSteps(async () => ['a', 'b', 'c'].filter((id) => !account.has(id)).map(itemOf));
    expect(steps.map(({ what }) => what)).toEqual(['create a', 'create c']);
    account.add('a');
    expect(await Promise.all(steps.map(({ apply }) => apply()))).toEqual([{}, { note: 'made c' }]);
    expect(await steps[1]?.apply()).toEqual({});
  });

  test('takes several comparisons in their order', () => {
    const one = {
      findings: [warningAt('a', 'p', 'r')],
      missing: [{ id: 'a', what: 'create a', make: async () => ({}) }],
    };
    const other = {
      findings: [errorAt('b', 'p', 'r')],
      missing: [{ id: 'b', what: 'create b', make: async () => ({}) }],
    };
    expect(combined([one, other])).toEqual({
      findings: [...one.findings, ...other.findings],
      missing: [...one.missing, ...other.missing],
    });
  });
});

describe('names that no record has', () => {
  const names: ShapeNames = { ticket: { id: true, fields: true }, choice: {} };
  const rows: [path: string[], problem: string | undefined][] = [
    [['ticket', 'id'], undefined],
    [['ticket'], undefined],
    [['ticket', 'fields', 'store'], undefined],
    [['choice', 'anything'], undefined],
    [['ticket', 'title'], 'a Deskly ticket has no title: it is always empty'],
    [['toString'], 'a Deskly record has no toString: it is always empty'],
    [['requester', 'name'], 'a Deskly record has no requester: it is always empty'],
  ];
  test.each(rows)('%j', (path, problem) => {
    const found = unknownReads('Deskly', names, 'others are under `fields`', [{ at: 'rules.0.when', path }]);
    expect(found.map((finding) => finding.problem)).toEqual(problem === undefined ? [] : [problem]);
  });
});

test('a finding on a name tells the names that there are', () => {
  const names: ShapeNames = { ticket: { id: true, fields: true }, contact: {} };
  const reads = [['requester'], ['ticket', 'title']].map((path) => ({ at: 'when', path }));
  expect(unknownReads('Deskly', names, 'others are under `fields`', reads).map(({ remedy }) => remedy)).toEqual([
    'There are: ticket, contact',
    'There are: id, fields; others are under `fields`',
  ]);
});

test('webhooks that only their owner sees are a warning, with what to do', () => {
  expect(unseenWebhook('Deskly', 'Enter them')).toEqual(
    warningAt('webhook', expect.stringContaining('that Deskly delivers here'), 'Enter them'),
  );
});

test('namesOf reads the names of a shape off one that is presented, of a list off its first entry', () => {
  expect(
    namesOf({ order: { id: 7, meta: { any: 1 } }, items: [{ sku: 'a' }, { other: 1 }], none: [], note: 'text' }),
  ).toEqual({
    order: { id: true, meta: true },
    items: { sku: true },
    none: {},
    note: {},
  });
});
