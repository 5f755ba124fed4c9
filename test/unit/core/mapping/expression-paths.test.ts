import { expect, test } from 'vitest';
import { compileExpression } from '../../../../core/mapping/expression.ts';

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
  ['ticket.$x.b', ['ticket']],
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
  expect(compileExpression(source).isPath).toBe(is);
});
