import { CloseloopError } from '../errors.ts';

/** Of any list that is read to its end in one go: ten thousand pages of a hundred. */
const mostPages = 10_000;
/** Of a cursor or an address, as each is kept while the list is read: more than anybody takes back. */
export const longestNext = 8_192;

/**
 * Watches over the way through the pages of a list: whoever names the same next page again, or ever new ones, would be asked
 * for ever. Call it with each next page's cursor or address.
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

function endless(list: string, what: string): CloseloopError {
  return new CloseloopError(`${list}: its pages ${what}; the list is incomplete, and was given up.`, {
    kind: 'permanent',
  });
}
