import { describe, expect, test } from 'vitest';
import { fetchedShell, lines } from '../../support/shells.ts';

describe.each(['zsh', 'fish'] as const)('%s', (shell) => {
  const offers = fetchedShell(shell);

  test.each(lines)('completes %j', async (line, offered) => {
    expect(await (await offers)(...line)).toEqual(offered);
  });
});
