import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { skipReasons } from '../../worker/journey/reasons.ts';
import { code, table } from './table.ts';

const source = readFileSync(resolve(import.meta.dirname, '../../worker/journey/reasons.ts'), 'utf8');

export function reasonReference(): string {
  const meanings = new Map(
    [...source.matchAll(/\/\*\* (.*) \*\/\n\s*'([\w-]+)',/g)].map(([, meaning, reason]) => [reason, meaning]),
  );
  const rows = skipReasons.map((reason) => {
    const meaning = meanings.get(reason);
    if (meaning === undefined) throw new Error(`worker/journey/reasons.ts says nothing about ${reason}`);
    return [code(reason), meaning];
  });
  return `# Reasons reference

Why a closing was skipped, as a short code beside the sentence in its trace. A code never changes its meaning; sentences may. Made from
the list that closeloop works by (\`npm run schema\`). \`closeloop journeys list --state skipped --json\` shows both.

${table(['reason', 'meaning'], rows)}

What a journey's states mean: [What happens to a closing](../journeys.md).
`;
}
