import { expect, test } from 'vitest';
import { commandsOf, nameOf } from '../../../../build/docs/command-reference.ts';
import { builtIn } from '../../../../connectors/built-in.ts';
import { addQuestions } from '../../../../worker/cli/init/flags.ts';
import { bash, lines } from '../../../support/shells.ts';

const offers = await bash();

test.each(lines)('bash completes %j', async (line, offered) => {
  expect(await offers(...line)).toEqual(offered);
});

test('bash knows every command, and every option of each', async () => {
  for (const command of commandsOf()) {
    if (nameOf(command) === 'init') await addQuestions(command, builtIn);
    const flags = command.options.filter(({ hidden }) => !hidden).map(({ long }) => long);
    expect([nameOf(command), await offers('closeloop', ...nameOf(command).split(' '), '--')]).toEqual([
      nameOf(command),
      [...flags, '--help'].sort(),
    ]);
  }
});

test('bash offers files behind an option that takes any value', async () => {
  expect(await offers('closeloop', 'start', '--config', '')).toEqual([]);
});
