import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';

const expression = resolve(import.meta.dirname, '../../../../core/mapping/expression-compile.ts');
/** Some hundredths of a second of work; says that it has begun, stands still in the middle of it, and says what came out. */
const program = `
import { writeSync } from 'node:fs';
import { compileExpression } from ${JSON.stringify(expression)};
const heavy = compileExpression('$sum([1..6000].($ * 2))');
await compileExpression('1').evaluate({});
const working = heavy.evaluate({});
setImmediate(() => {
  writeSync(1, 'begins ');
  process.kill(process.pid, 'SIGSTOP');
});
writeSync(1, String(await working));
`;

test('an expression is not given up because its process stood still for longer than it may run', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (text: Buffer) => {
    said += text.toString();
  });
  const ended = once(child, 'close');
  while (said === '') await sleep(5);
  await sleep(1_500);
  expect(said).toBe('begins ');
  child.kill('SIGCONT');
  expect(await ended).toEqual([0, null]);
  expect(said).toBe('begins 36006000');
});
