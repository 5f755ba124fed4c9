import { describe, expect, test } from 'vitest';
import {
  combined,
  errorAt,
  isSameUrl,
  namesOf,
  prober,
  type ShapeNames,
  setupSteps,
  unknownReads,
  warningAt,
} from '../../../../core/connector/check.ts';

describe('a probe', () => {
  test('gives what was read, and a finding where it failed, whatever else fails', async () => {
    const { probe, findings } = prober(({ at, what }, error) => errorAt(at, `${what}: ${error}`, 'Look'));
    expect(await probe({ at: 'trigger', what: 'the triggers' }, async () => 7)).toBe(7);
    expect(await probe({ at: 'webhook', what: 'the webhooks' }, () => Promise.reject('down'))).toBeUndefined();
    expect(findings).toEqual([{ level: 'error', at: 'webhook', problem: 'the webhooks: down', remedy: 'Look' }]);
  });

  test('is silent about what has been said already', async () => {
    const { probe, findings } = prober(() => undefined);
    await probe({ at: 'trigger', what: 'the triggers' }, () => Promise.reject('down'));
    expect(findings).toEqual([]);
  });
});

test.each([
  ['https://hooks.example.com/hooks/shop', true],
  ['HTTPS://hooks.example.com:443/hooks/shop', true],
  ['https://hooks.example.com/hooks/shop/', false],
  ['no address', false],
])('%s leads to the hook: %s', (url, same) => {
  expect(isSameUrl(url, 'https://hooks.example.com/hooks/shop')).toBe(same);
});

describe('setup', () => {
  test('makes what is missing when a step is applied, not when it was told', async () => {
    const account = new Set(['b']);
    const make = async ({ id }: { id: string }) => {
      account.add(id);
      return { note: `made ${id}` };
    };
    const compare = async () =>
      ['a', 'b', 'c'].flatMap((id) => (account.has(id) ? [] : [{ id, what: `create ${id}` }]));
    const steps = await setupSteps(compare, make);
    expect(steps.map(({ what }) => what)).toEqual(['create a', 'create c']);
    account.add('a');
    expect(await Promise.all(steps.map(({ apply }) => apply()))).toEqual([{}, { note: 'made c' }]);
    expect(await steps[1]?.apply()).toEqual({});
  });

  test('takes several comparisons in their order', () => {
    const one = { findings: [warningAt('a', 'p', 'r')], missing: [{ id: 'a', what: 'create a' }] };
    const other = { findings: [errorAt('b', 'p', 'r')], missing: [{ id: 'b', what: 'create b' }] };
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
