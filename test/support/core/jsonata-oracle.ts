import fc from 'fast-check';
import jsonata from 'jsonata';
import { expect } from 'vitest';
import { limits } from '../../../core/mapping/expression-limits.ts';
import { plainEvaluation } from '../../../core/mapping/expression-plain.ts';

/** What JSONata itself says, as the thread reports it. */
async function byJsonata(source: string, record: unknown): Promise<unknown> {
  try {
    const expression = jsonata(source, { stack: limits.depth, sequence: limits.list });
    const value: unknown = await expression.evaluate(JSON.parse(JSON.stringify(record)));
    const marks = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    if (marks.some(([key, one]) => key.startsWith('_jsonata_') && one === true)) return { code: 'function' };
    const json = JSON.stringify(value, (_key, one: unknown) => {
      if (typeof one === 'number' && !Number.isFinite(one)) throw { code: 'D1001' };
      return one;
    });
    return json === undefined ? 'nothing' : { json };
  } catch (error) {
    const { code, position, token } = Object(error);
    return { code, position, token };
  }
}

function plainly(source: string, record: unknown): unknown {
  const result = plainEvaluation(jsonata(source).ast())?.(record);
  if (result === undefined) return 'not plain';
  if (!result.ok) {
    const { code, position, token } = result.failure;
    return code === 'function' ? { code } : { code, position, token };
  }
  return result.value === undefined ? 'nothing' : { json: JSON.stringify(result.value) };
}

const isFault = (said: unknown): said is { code: unknown } =>
  typeof said === 'object' && said !== null && 'code' in said;

const names = ['a', 'b', 'c', 'constructor', '__proto__', '_jsonata_lambda', 'length'];
const name = fc.constantFrom(...names).map((one) => (one.startsWith('_') ? `\`${one}\`` : one));

const leaf = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, '', 'x', 'Phone', '["x"]', 0, -0, 1, -1, 2.5, 1e308, 1 / 3),
  fc.string({ maxLength: 3 }),
);
const { record } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small', maxDepth: 5 }, leaf, tie('list'), tie('record'), tie('record')),
  list: fc.array(tie('value'), { maxLength: 3 }),
  record: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 4 }),
}));

const { expression } = fc.letrec<{ expression: string; atom: string }>((tie) => {
  const e = tie('expression');
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'));
  return {
    atom: fc.oneof(
      path,
      path,
      path,
      path.map((one) => `$.${one}`),
      path.map((one) => `$$.${one}`),
      fc.constantFrom(
        '$',
        '$$',
        '"x"',
        '"Phone"',
        '1',
        '0',
        '2.5',
        '-1',
        '1e308',
        'true',
        'false',
        'null',
        '{"x": 1}',
        '[]',
      ),
    ),
    expression: fc.oneof(
      { depthSize: 'small', maxDepth: 4 },
      tie('atom'),
      fc
        .tuple(e, fc.constantFrom('=', '!=', '<', '<=', '>', '>=', 'in', 'and', 'or', '&', '+', '-', '*', '/', '%'), e)
        .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
      fc.tuple(fc.constantFrom('not', 'exists', 'boolean'), e).map(([fn, one]) => `$${fn}(${one})`),
      fc.array(e, { maxLength: 3 }).map((all) => `[${all.join(', ')}]`),
      fc.tuple(e, e, fc.option(e)).map(([a, b, c]) => (c === null ? `(${a} ? ${b})` : `(${a} ? ${b} : ${c})`)),
      e.map((one) => `-(${one})`),
      fc.tuple(e, e).map(([a, b]) => `(${a}; ${b})`),
      fc.tuple(e, e).map(([a, b]) => `(${a} ?? ${b})`),
    ),
  };
});

/** Over so many expressions and records the plain evaluation says what JSONata says. @returns how many of them were plain */
export async function checkAgainstJsonata(numRuns: number): Promise<number> {
  let plain = 0;
  await fc.assert(
    fc.asyncProperty(expression, record, async (source, over) => {
      const said = plainly(source, over);
      if (said === 'not plain') return;
      plain += 1;
      const expected = await byJsonata(source, over);
      // Over a record that pretends to be a function JSONata stumbles by itself.
      if (isFault(expected) && expected.code === undefined) return;
      // JSONata evaluates a list's entries side by side: of several that fail, it tells of the one that did so first.
      if (source.includes('[') && isFault(said) && isFault(expected)) return;
      expect(said, source).toStrictEqual(expected);
    }),
    { numRuns },
  );
  return plain;
}
