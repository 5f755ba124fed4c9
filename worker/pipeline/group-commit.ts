interface GroupCommitOptions<Item> {
  /** The most items of one write, and the size from which no further item joins. */
  items: number;
  size: number;
  sizeOf: (item: Item) => number;
  write: (items: readonly Item[]) => Promise<void>;
}

interface Group<Item> {
  items: Item[];
  size: number;
  stored: PromiseWithResolvers<void>;
}

/**
 * Items that arrive during a write are written together by the next write. Items that arrive while there is no write are written at the
 * end of this turn of the event loop. A full group is written at once.
 */
export class GroupCommit<Item> {
  readonly #options: GroupCommitOptions<Item>;
  #filling: Group<Item> | undefined;
  #underWay = 0;

  constructor(options: GroupCommitOptions<Item>) {
    this.#options = options;
  }

  /** Resolves when the item is stored. Rejects when the write of its group fails, which says nothing about other groups. */
  async add(item: Item): Promise<void> {
    const group = this.#filling ?? this.#begin();
    group.items.push(item);
    group.size += this.#options.sizeOf(item);
    if (group.items.length >= this.#options.items || group.size >= this.#options.size) this.#send(group);
    await group.stored.promise;
  }

  #begin(): Group<Item> {
    const group: Group<Item> = { items: [], size: 0, stored: Promise.withResolvers() };
    this.#filling = group;
    if (this.#underWay === 0) setImmediate(() => this.#send(group));
    return group;
  }

  #send(group: Group<Item>): void {
    if (this.#filling !== group) return;
    this.#filling = undefined;
    this.#underWay++;
    const answered = this.#options.write(group.items).finally(() => {
      this.#underWay--;
      if (this.#filling) this.#send(this.#filling);
    });
    answered.then(group.stored.resolve, group.stored.reject);
  }
}
