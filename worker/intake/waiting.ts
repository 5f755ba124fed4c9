/**
 * Bodies being received, or connections without a request, each with a size and an address. When there are too many, the oldest entry
 * of the address with the most is dropped. A vendor's delivery is here for milliseconds only, so that it is never the oldest, from
 * however few addresses the vendor sends.
 */
export class Waiting<Item extends object> {
  /** The items of each address, oldest first, as a map keeps the order of insertion. */
  readonly #byAddress = new Map<string, { items: Map<Item, number>; size: number }>();
  readonly #addressOf = new Map<Item, string>();

  sizeOf(address: string): number {
    return this.#byAddress.get(address)?.size ?? 0;
  }

  /** Adds an entry, or updates its size; its age stays. */
  add(item: Item, address: string, size: number): void {
    const of = this.#byAddress.get(address) ?? { items: new Map<Item, number>(), size: 0 };
    of.items.set(item, (of.items.get(item) ?? 0) + size);
    of.size += size;
    this.#byAddress.set(address, of);
    this.#addressOf.set(item, address);
  }

  /** Removes an entry. */
  remove(item: Item): void {
    const address = this.#addressOf.get(item);
    const of = address === undefined ? undefined : this.#byAddress.get(address);
    if (address === undefined || of === undefined) return;
    of.size -= of.items.get(item) ?? 0;
    of.items.delete(item);
    this.#addressOf.delete(item);
    if (of.items.size === 0) this.#byAddress.delete(address);
  }

  /** The oldest entry of an address; without an address, of the address with the most. */
  longest(address?: string): Item | undefined {
    const [longest] = this.#byAddress.get(address ?? this.#heaviest())?.items.keys() ?? [];
    return longest;
  }

  #heaviest(): string {
    let [heaviest, most] = ['', -1];
    for (const [address, { size }] of this.#byAddress) if (size > most) [heaviest, most] = [address, size];
    return heaviest;
  }
}
