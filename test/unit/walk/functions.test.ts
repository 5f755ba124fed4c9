import { stripTypeScriptTypes } from 'node:module';
import { expect, test } from 'vitest';
import { functionsOf, instrumented } from '../../walk/functions.ts';

const rows: [what: string, source: string, name: string | undefined, code: string][] = [
  ['a function', 'function one(): void { go(); }', 'one', 'function one()       {enter(0); go(); }'],
  ['an arrow function', 'const one = (x: A) => x.b;', 'one', 'const one = (x   ) => (enter(0),x.b);'],
  ['one that makes an object', 'const one = () => ({ a });', 'one', 'const one = () => (enter(0),({ a }));'],
  ['a method', 'class A { one() { go(); } }', 'one', 'class A { one() {enter(0); go(); } }'],
  ['a private one', 'class A { #one() {} }', 'one', 'class A { #one() {enter(0);} }'],
  ['a getter', 'const a = { get one() { return 1; } };', 'one', 'const a = { get one() {enter(0); return 1; } };'],
  ['a callback', 'list.map((a) => a.b);', undefined, 'list.map((a) => (enter(0),a.b));'],
];

test.each(rows)('it finds %s, and makes it tell that it is entered', (_what, source, name, code) => {
  expect(functionsOf(source)).toEqual([{ name, firstLine: 1, lastLine: 1 }]);
  expect(stripTypeScriptTypes(instrumented(source, 'enter')).trimEnd()).toBe(code);
});

test('it counts an overload and an abstract method for nothing, and moves no line', () => {
  const source =
    'function a(b: string): void;\nfunction a(b: unknown) {\n  return () =>\n    b;\n}\nabstract class C { abstract d(): void }\n';
  expect(functionsOf(source)).toEqual([
    { name: 'a', firstLine: 2, lastLine: 5 },
    { name: undefined, firstLine: 3, lastLine: 4 },
  ]);
  expect(instrumented(source, 'e').split('\n')).toHaveLength(source.split('\n').length);
});
