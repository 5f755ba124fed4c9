import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';

const expression = resolve(import.meta.dirname, '../../../../core/mapping/expression.ts');
/** Some hundredths of a second of work; says when it begins and what came out. */
const program = `
import { writeSync } from 'node:fs';
import { compileExpression } from ${JSON.stringify(expression)};
const heavy = compileExpression('$sum([1..6000].($ * 2))');
await compileExpression('1').evaluate({});
writeSync(1, 'begins ');
writeSync(1, String(await heavy.evaluate({})));
`;

test('an expression is not given up because its process stood still for longer than it may run', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (text: Buffer) => {
    // In the middle of its work.
    if (said === '') child.kill('SIGSTOP');
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
