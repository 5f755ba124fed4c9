/* What is missing before the package may be published: `npm run release:check`, and by itself before `npm publish`. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';

export interface Release {
  version: string;
  /** Of package.json. */
  repository: string;
  changelog: string;
}

/** Each with what to do about it; none: it may be published. */
export function releaseProblems({ version, repository, changelog }: Release): string[] {
  const [heading = ''] = /^## .*$/m.exec(changelog) ?? [];
  return [
    /\/OWNER\//.test(repository) &&
      `package.json: "repository" is still a placeholder (${repository}). Put the owner of the repository in place of OWNER: npm shows the README's pictures from there.`,
    !heading.startsWith(`## ${version} `) &&
      `CHANGELOG.md begins with "${heading}", and the version of package.json is ${version}. Write what is new in ${version} above it.`,
    heading.includes('not released') &&
      `CHANGELOG.md says that ${version} is not released. Put the day of the release there.`,
  ].filter((problem) => problem !== false);
}

if (import.meta.main) {
  const root = resolve(import.meta.dirname, '..');
  const read = (name: string) => readFileSync(join(root, name), 'utf8');
  const Manifest = z.object({ version: z.string(), repository: z.object({ url: z.string() }) });
  const { version, repository } = Manifest.parse(JSON.parse(read('package.json')));
  const problems = releaseProblems({ version, repository: repository.url, changelog: read('CHANGELOG.md') });
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
