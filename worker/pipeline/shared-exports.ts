import { type Contact, contactKey } from '../../core/contact.ts';
import type { FeedbackClient, RequestPage } from '../../core/feedback/client.ts';

interface Search {
  campaign: number;
  contact: Contact;
  /** YYYY-MM-DD. */
  dateFrom: string;
  /** @returns whether the search needs no further page */
  visit(page: RequestPage): boolean;
}

type Waiting = Search & PromiseWithResolvers<void>;
type Pages = Pick<FeedbackClient, 'requestPages'>;

/**
 * Shares one reading of a campaign's export among the searches for requests of unknown outcome. A search that begins while an
 * export is being read waits for the next reading: its request may be on a page that was read already.
 */
export class SharedExports {
  readonly #limit: <T>(read: () => Promise<T>) => Promise<T>;
  readonly #isByContact: boolean;
  readonly #next = new Map<string, Waiting[]>();

  /** @param options `isByContact`: the service can filter the list by contact, so it is read for each contact */
  constructor(limit: <T>(read: () => Promise<T>) => Promise<T>, options: { isByContact: boolean }) {
    this.#limit = limit;
    this.#isByContact = options.isByContact;
  }

  async read(search: Search, feedback: Pages): Promise<void> {
    const waiting: Waiting = { ...search, ...Promise.withResolvers<void>() };
    const name = this.#isByContact ? `${search.campaign} ${contactKey(search.contact)}` : `${search.campaign}`;
    const others = this.#next.get(name);
    if (others) others.push(waiting);
    else {
      const all = [waiting];
      this.#next.set(name, all);
      void this.#limit(async () => {
        this.#next.delete(name);
        await readFor(all, feedback);
      });
    }
    await waiting.promise;
  }
}

async function readFor(all: readonly Waiting[], feedback: Pages): Promise<void> {
  let open = [...all];
  try {
    const [first] = all;
    if (!first) return;
    const dateFrom = all.map((one) => one.dateFrom).reduce((a, b) => (b < a ? b : a));
    const { campaign, contact } = first;
    for await (const page of feedback.requestPages({ campaign, contact, dateFrom })) {
      open = open.filter((search) => {
        const isDone = search.visit(page);
        if (isDone) search.resolve();
        return !isDone;
      });
      if (open.length === 0) return;
    }
    for (const search of open) search.resolve();
  } catch (error) {
    for (const search of open) search.reject(error);
  }
}
