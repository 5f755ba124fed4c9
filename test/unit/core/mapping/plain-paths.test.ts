import fc from 'fast-check';
import jsonata from 'jsonata';
import { expect, test } from 'vitest';
import { plainValueAt } from '../../../../core/mapping/expression.ts';
import { compileExpression } from '../../../../core/mapping/expression-compile.ts';

const rows: [source: string, reads: string[]][] = [
  ['ticket.fields.store', ['ticket.fields.store']],
  ['ticket.fields.`360001`', ['ticket.fields.360001']],
  ['$not("no_survey" in ticket.tags)', ['ticket.tags']],
  ['ticket.items[price > 3].name', ['ticket.items.name']],
  ['$map(ticket.tags, function($t) { $t.x })', ['ticket.tags']],
  ['vip ? requester.phone : requester.email', ['vip', 'requester.phone', 'requester.email']],
  ['ticket.tags[0]', ['ticket.tags']],
  ['$string(ticket.id) & "-" & requester.name', ['ticket.id', 'requester.name']],
  ['($name := requester.name; $name)', ['requester.name']],
  ['ticket.(a + b.c)', ['ticket']],
  ['{"a": ticket.b}', ['ticket.b']],
  ['[ticket.x, y]', ['ticket.x', 'y']],
  ['"North"', []],
  ['null', []],
  ['ticket@$x.$x.b', ['ticket']],
  ['ticket.*.b', ['ticket']],
  ['($x := ticket; $x[price > 3].name)', ['ticket']],
  ['$lookup(ticket, key).name', ['ticket', 'key']],
  ['{"a": b}.c', ['b']],
];
test.each(rows)('%s reads %j', (source, reads) => {
  expect(compileExpression(source).reads.map((path) => path.join('.'))).toEqual(reads);
});

const paths: [source: string, is: boolean][] = [
  ['phone', true],
  ['customer.phone', true],
  ['ticket.fields.`360001`', true],
  ['customer.phones[0]', false],
  ['customer.phone[]', false],
  ['people[is="customer"].phone', false],
  ['$trim(customer.phone)', false],
  ['$lookup({"a": "b"}, ticket.channel)', false],
  ['customer.phone & ""', false],
  ['customer.*', false],
  ['$.phone', false],
  ['"phone"', false],
];
test.each(paths)('that %s is nothing but a path is %s', (source, is) => {
  expect(compileExpression(source).path !== undefined).toBe(is);
});

const names = ['a', 'b', 'length', 'constructor', '__proto__', 'toString'];
const name = fc.constantFrom(...names);
const scalar = fc.oneof(
  fc.string(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const record = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
}));

test('the value at a plain path is the one that JSONata finds, or JSONata has to look', async () => {
  let plain = 0;
  await fc.assert(
    fc.asyncProperty(record.value, fc.array(name, { minLength: 1, maxLength: 4 }), async (made, path) => {
      const input: unknown = JSON.parse(JSON.stringify(made));
      const found = plainValueAt(input, path);
      if (!found) return;
      plain++;
      expect(found.value).toBe(await jsonata(path.map((one) => `\`${one}\``).join('.')).evaluate(input));
    }),
    { numRuns: 3_000 },
  );
  expect(plain).toBeGreaterThan(1_000);
});
