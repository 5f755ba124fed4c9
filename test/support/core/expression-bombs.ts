import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

/** How a program ended, and what it said. */
export async function ran(program: string, flags: readonly string[] = []): Promise<{ code: unknown; said: string }> {
  const expression = resolve(import.meta.dirname, '../../../core/mapping/expression-compile.ts');
  const imports = `import { compileExpression } from ${JSON.stringify(expression)};`;
  const child = spawn(process.execPath, [...flags, '--input-type=module', '-e', `${imports}\n${program}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (text: Buffer) => {
    said += text.toString();
  });
  const [code] = await once(child, 'close');
  return { code, said };
}

const bombs = [
  '[1..1e7]',
  '[1..99999].([1..99999])',
  '$map([1..1000], function($v) { [1..99999] })',
  '$pad("", 400000000, "xyz")',
  '($x := $pad("", 900000, "x"); $join([1..400].$x))',
  '($x := $pad("", 900000, "x"); $string([1..400].$x))',
  '($x := $pad("", 900000, "x"); [1..400].$x & "")',
  '$replace($pad("", 900000, "x"), "x", $pad("", 900000, "y"))',
  '$match($pad("", 900000, "x"), /x/)',
  '$split($pad("", 900000, "x"), /x/)',
  '($f := function($x) { $f($x & $x) }; $f("ab"))',
  '($f := function($x, $n) { $n = 0 ? $x : $f([[$x], [$x]], $n - 1) }; $string($f(1, 60), true))',
  '$sort([1..99999], function($a, $b) { $a < $b })',
  '$sort([1..99999])',
  '[1..99999]^($)',
  '$reduce([1..99999], $append)',
  '$map([1..99999], $string)',
  '$map([1..400], $pad("", 900000, ?))',
  '$distinct([1..99999].{"a": $})',
  '$distinct($append([1..49999], [1..49999].(49999)))',
  '$spread([1..99999].{"a": $})',
  '[1..99999]{$string($): $}',
  '[1..99999]{"a": $}',
  '($f := function($x, $n) { $n = 0 ? $x : $f([[$x], [$x]], $n - 1) }; $f(1, 60) = $f(1, 60))',
  '($f := function($x, $n) { $n = 0 ? $x : $f([[$x], [$x]], $n - 1) }; $f([], 60).a)',
  '($f := function($x, $n) { $n = 0 ? $x : $f({"a": $x, "b": $x}, $n - 1) }; $count($f(1, 60).**))',
  '($f := function($x, $n) { $n = 0 ? $x : $f([[$x], [$x]], $n - 1) }; $keys($f({}, 60)))',
  '$ ~> |$|{"a": $, "b": $}|',
  '($clone := function($x) { $x }; $ ~> |$|{"a": $, "b": $}|; **)',
  '[1..99999].($pad("", 900000, "x"))',
  '$formatInteger(1e308, "I")',
  '$formatInteger(123, $pad("", 900000, "0"))',
  '$formatNumber(1, $pad("", 900000, "0"))',
  '$fromMillis(0, $pad("", 900000, "[Y]"))',
  '$fromMillis(0, "[Y,30000000-30000000]")',
  '$toMillis($pad("", 900000, "1"), "[Y][M][D][H][m][s][f]x")',
  '$parseInteger($pad("", 900000, "I"), "I")',
  '$contains($pad("", 900000, "x"), /x(.*y)?z/)',
  '$replace($pad("", 900000, "x"), /x(.*y)?/, "z")',
  '$match($pad("", 900000, "x"), /(?:[a-z]{1,100}){1,9}[0-9]/)',
  '$substring($pad("", 900000, "x"), 1)',
  '$power(10, 308)',
  '$zip([1..99999], [1..99999])',
  '$shuffle([1..99999])',
  '$base64encode($pad("", 900000, "x"))',
  '$encodeUrl($pad("", 900000, "é"))',
  '[1..99999][$ in [1..99999]]',
  '[1..99999]@$a.[1..99999]@$b.($a)',
];

/** A process that evaluates expressions which would fill its memory, then a small one: its exit code, and what it says of both. */
export async function bombed(flags: readonly string[] = []) {
  const { code, said } = await ran(
    `
    const before = process.memoryUsage().rss;
    let most = 0;
    const looking = setInterval(() => { most = Math.max(most, process.memoryUsage().rss); }, 5);
    for (const source of ${JSON.stringify(bombs)}) {
      await compileExpression(source).evaluate({}).catch(() => undefined);
    }
    clearInterval(looking);
    console.log(JSON.stringify([await compileExpression('$sum([1..4])').evaluate({}), (most - before) < 400 * 2 ** 20]));
  `,
    flags,
  );
  return [code, said.trim()];
}
