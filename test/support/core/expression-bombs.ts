import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

/** How a program ended, and what it said. */
export async function ran(program: string, flags: readonly string[] = []): Promise<{ code: unknown; said: string }> {
  const expression = resolve(import.meta.dirname, '../../../core/mapping/expression.ts');
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
];

/** A process that evaluates expressions which would fill its memory, then a small one: its exit code, and what it says of both. */
export async function bombed(flags: readonly string[] = []) {
  const { code, said } = await ran(
    `
    const before = process.memoryUsage().rss;
    let most = 0;
    const looking = setInterval(() => { most = Math.max(most, process.memoryUsage().rss); }, 5);
    for (const source of ${JSON.stringify(bombs)}) await compileExpression(source).evaluate({}).catch(() => undefined);
    clearInterval(looking);
    console.log(JSON.stringify([await compileExpression('$sum([1..4])').evaluate({}), (most - before) < 250 * 2 ** 20]));
  `,
    flags,
  );
  return [code, said.trim()];
}
