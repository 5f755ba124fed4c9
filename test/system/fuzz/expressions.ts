import type { Chance } from '../chaos/random.ts';
import { text, words } from './values.ts';

/* Expressions as people write them, as people mistype them, and as nobody should. */

const names = words('id type data email count results customer `__proto__` constructor nothing');
const operators = words('= != < >= in and or & + - * / % .. ~> ?: ??');
const functions = words(`
  string uppercase trim length substring contains split join match replace number sum not exists boolean keys
  lookup merge sort reverse distinct map each eval base64encode formatNumber toMillis now type error nonsense
`);

/** Each costs its second, or a good deal of memory: rare, as the real ones. */
const bad = [
  '$contains("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", /^(a+)+$/)',
  '[1..99999].([1..99999])',
  '($f := function($x) { $f($x + 1) }; $f(1))',
  '$match($pad("", 900000, "x"), /x/)',
  '$sort([1..99999], function($a, $b) { $a < $b })',
] as const;
const large = [
  '[1..1e7]',
  '$pad("", 400000000, "x")',
  '($f := function($x) { $f($x & $x) }; $f("ab"))',
  '($x := $pad("", 90000, "x"); $join([1..400].$x))',
  '$replace($pad("", 9000, "x"), "x", $pad("", 9000, "y"))',
  '($f := function($x, $n) { $n = 0 ? $x : $f([[$x], [$x]], $n - 1) }; $string($f(1, 40), true))',
] as const;

export function expression(chance: Chance): string {
  if (chance.happens(1 / 8_000)) return chance.of(bad);
  if (chance.happens(1 / 400)) return chance.of(large);
  const made = part(chance, 3);
  if (chance.happens(0.9)) return made;
  const at = chance.int(0, made.length);
  return made.slice(0, at) + text(chance) + made.slice(at + chance.int(0, 2));
}

function part(chance: Chance, depth: number): string {
  const sub = (): string => part(chance, depth - 1);
  switch (depth === 0 ? chance.int(0, 3) : chance.int(0, 11)) {
    case 0:
    case 1:
      return Array.from({ length: chance.int(1, 3) }, () => chance.of(names)).join('.');
    case 2:
      return JSON.stringify(text(chance));
    case 3:
      return chance.of(['1', '0', '-1', 'true', 'null', '$', '$$', '1e308', '[]', '/a+/i']);
    case 4:
    case 5:
      return `(${sub()} ${chance.of(operators)} ${sub()})`;
    case 6:
      return `$${chance.of(functions)}(${[sub(), sub()].slice(chance.int(0, 1)).join(', ')})`;
    case 7:
      return `[${sub()}, ${sub()}]`;
    case 8:
      return `(${sub()} ? ${sub()} : ${sub()})`;
    case 9:
      return `${chance.of(names)}[${sub()}]`;
    case 10:
      return `{${JSON.stringify(text(chance))}: ${sub()}}`;
    default:
      return `$map(${sub()}, function($v) { ${sub()} })`;
  }
}
