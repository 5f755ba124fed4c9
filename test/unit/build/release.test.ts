import { expect, test } from 'vitest';
import { type Release, releaseProblems } from '../../../build/release.ts';

const ready: Release = {
  version: '0.2.0',
  repository: 'git+https://github.com/acme/closeloop.git',
  changelog: '# Changelog\n\nWhat changes.\n\n## 0.2.0 (2026-12-01)\n\n## 0.1.0 (2026-11-01)\n',
};

test('a release that is ready has no problem', () => expect(releaseProblems(ready)).toEqual([]));

test.each<[what: string, Partial<Release>, RegExp]>([
  ['the placeholder of the repository', { repository: 'git+https://github.com/OWNER/closeloop.git' }, /OWNER/],
  ['a changelog without this version', { version: '0.3.0' }, /begins with "## 0.2.0 .*0.3.0/],
  ['a version like another', { version: '0.2' }, /version of package.json is 0\.2\./],
  ['a changelog without any version', { changelog: '# Changelog\n' }, /begins with ""/],
  ['a version that is not released', { changelog: '## 0.2.0 (not released)\n' }, /the day of the release/],
])('%s is a problem', (_, changed, said) => {
  expect(releaseProblems({ ...ready, ...changed })).toEqual([expect.stringMatching(said)]);
});
