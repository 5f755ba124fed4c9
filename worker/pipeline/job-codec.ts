import { z } from 'zod';
import { type Seal, SealError } from '../redis/seal.ts';

const Sealed = z.strictObject({ sealed: z.string() });

/** How Redis holds the data of a queue's jobs: as they are, or sealed where they hold personal data. */
export class JobCodec<Data extends z.ZodType> {
  readonly #schema: Data;
  readonly #about: string;
  readonly #seal: Seal | undefined;

  constructor(queue: string, schema: Data, seal: Seal | undefined) {
    this.#schema = schema;
    this.#about = `job of ${queue}`;
    this.#seal = seal;
  }

  toStored(data: z.input<Data>): unknown {
    return this.#seal === undefined ? data : { sealed: this.#seal.seal(JSON.stringify(data), this.#about) };
  }

  /** A job's data as they were. What does not open is left out: nobody can read such a job. */
  fromStored(stored: unknown): unknown {
    const { data } = Sealed.safeParse(stored);
    if (this.#seal === undefined || data === undefined) return stored;
    try {
      return JSON.parse(this.#seal.open(data.sealed, this.#about));
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }

  /** @throws ZodError for a job that only another version can read */
  read(stored: unknown): z.output<Data> {
    return this.#schema.parse(this.fromStored(stored));
  }

  /** Undefined: only another version can read it. */
  readable(stored: unknown): { data: z.output<Data> } | undefined {
    const { success, data } = this.#schema.safeParse(this.fromStored(stored));
    return success ? { data } : undefined;
  }
}
