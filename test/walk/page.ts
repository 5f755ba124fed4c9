import { sumText, tableText, type WalkedFile } from './table.ts';

export const walkPage = 'docs/development.md';

const [begin, end] = ['<!-- "npm run walk" writes from here -->', '<!-- to here -->'];
const part = new RegExp(`${begin}[\\s\\S]*${end}`);

/** The page with this walk in it. */
export function pageWith(page: string, files: readonly WalkedFile[]): string {
  if (!part.test(page)) throw new Error(`${walkPage} has no place for the walk: ${begin} … ${end}`);
  return page.replace(part, () => `${begin}\n${tableText(files)}\n\n${sumText(files)}.\n${end}`);
}

/** The files of the walk that the page shows, and the lines of its sum. */
export function walkOfPage(page: string): { files: string[]; lines: number } {
  const text = part.exec(page)?.[0] ?? '';
  const files = [...text.matchAll(/^\| \d+ \| \[`([^`]+)`\]/gm)].map(([, file = '']) => file);
  const [, lines = ''] = / files, ([\d,]+) lines beyond idle/.exec(text) ?? [];
  return { files, lines: Number(lines.replaceAll(',', '')) };
}
