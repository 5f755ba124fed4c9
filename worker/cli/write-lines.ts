import { once } from 'node:events';

/** The lines of one write, which stay under 128 kB. V8 allocates separate memory for a longer text, which takes longer than writing it. */
const linesAtOnce = 250;

/**
 * Writes each as a line on standard output. Resolves when whoever reads them has room for more: memory does not grow where they are slow.
 * @param asText left out: as JSON
 */
export async function writeLines<Item>(
  items: readonly Item[],
  asText: (some: readonly Item[]) => string = (some) => some.map((one) => `${JSON.stringify(one)}\n`).join(''),
): Promise<void> {
  for (let from = 0; from < items.length; from += linesAtOnce) {
    const text = asText(items.slice(from, from + linesAtOnce));
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  }
}

/** Resolves when all that was written on standard output has left the process. */
export async function written(): Promise<void> {
  await new Promise<void>((resolve) => void process.stdout.write('', () => resolve()));
}
