import { expect, test, vi } from 'vitest';
import { runCommand } from '../../../../worker/cli/main.ts';

test.each([
  [['check', '--campaign', '99', '--try'], /--try is gone: "closeloop preview" .*"closeloop requests create"/],
  [['backfill', '--source', 'support', '--since', 'today', '--dry-run'], /--dry-run is gone: "closeloop preview/],
])('an option that is gone is refused with what there is in its place: %j', async (args, said) => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    expect(await runCommand(args)).toBe(2);
    expect(write.mock.calls.join('')).toMatch(said);
  } finally {
    write.mockRestore();
  }
});
