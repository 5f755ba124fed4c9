import { CloseloopError } from '../errors.ts';

/** The most entries of a list that is read to its end: ten thousand pages of a hundred. */
const mostPages = 10_000;
/** The longest cursor or address: all of them are kept in memory while the list is read. */
export const longestNext = 8_192;

/**
 * Guards the reading of a list against a vendor that names the same next page again, or new pages without end. Call it with the
 * cursor or address of each next page.
 * @param list for the message: 'Zendesk acme: audits'
 * @throws CloseloopError permanent
 */
export function pageWatch(list: string, most = mostPages): (next: string) => void {
  const seen = new Set<string>();
  return (next) => {
    if (next.length > longestNext) throw endless(list, `are called by more than ${longestNext} characters`);
    if (seen.has(next)) throw endless(list, 'lead in a circle');
    if (seen.size >= most) throw endless(list, `have no end (${most} so far)`);
    seen.add(next);
  };
}

/** Asks for the next page while the last one is being worked on. Meant to be read to the end. */
export async function* readAhead<Page>(pages: AsyncIterable<Page>): AsyncGenerator<Page> {
  const iterator = pages[Symbol.asyncIterator]();
  for (let next = iterator.next(); ; ) {
    const { done, value } = await next;
    if (done === true) return;
    next = iterator.next();
    // It is awaited in its turn.
    next.catch(() => undefined);
    yield value;
  }
}

function endless(list: string, what: string): CloseloopError {
  return new CloseloopError(`${list}: its pages ${what}; the list is incomplete, and was given up.`, {
    kind: 'permanent',
  });
}
