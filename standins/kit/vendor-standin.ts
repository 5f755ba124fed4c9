import { z } from 'zod';
import { type Command, command, createControlSurface, type Given, nothing } from './control.ts';
import { FaultQueue } from './faults.ts';
import { Problem, type StandinRequest, type StandinResponse } from './message.ts';
import { type Call, countCalls } from './router.ts';
import { createWebhookSender, type RetryPolicy, type SenderSettings, type WebhookSender } from './webhook-sender.ts';

/** What the stand-in of any vendor can be started with. Left out: the system's. */
export interface VendorOptions {
  /** The account's clock: records, tokens, limits. */
  now?: () => Date;
  /** 0 ≤ x < 1 */
  random?: () => number;
  sleep?: (ms: number) => Promise<void>;
  fetch?: typeof globalThis.fetch;
  webhooks?: SenderSettings;
}

/** What may be changed of how webhooks are sent. */
export const senderChange = z.strictObject({
  pauseScale: z.number().min(0).exactOptional(),
  timeoutMs: z.number().positive().exactOptional(),
  duplicates: z.number().min(0).max(1).exactOptional(),
  reorder: z.boolean().exactOptional(),
  concurrency: z.number().int().positive().exactOptional(),
});

/**
 * The parts that the stand-ins of all vendors have: a control surface, faults, a clock, a log of the calls that they got, and the
 * webhooks that they send.
 */
export abstract class VendorStandin {
  readonly faults = new FaultQueue();
  protected readonly random: () => number;
  protected readonly sleep: (ms: number) => Promise<void>;
  protected readonly sender: WebhookSender;
  readonly #clock: () => Date;
  #control: ((req: StandinRequest) => Promise<StandinResponse>) | undefined;
  #calls: Call[] = [];

  constructor(retries: RetryPolicy, options: VendorOptions) {
    const { now = () => new Date(), random = Math.random, sleep = realSleep, fetch = globalThis.fetch } = options;
    this.random = random;
    this.sleep = sleep;
    this.#clock = now;
    this.sender = createWebhookSender(retries, { fetch, random, sleep }, { ...options.webhooks });
  }

  /** Bound, so that it can be handed on. */
  readonly handle = async (req: StandinRequest): Promise<StandinResponse> => {
    if (req.path.startsWith('/_control/')) {
      this.#control ??= createControlSurface([...this.commands(), ...this.#ownCommands()]);
      return this.#control(req);
    }
    const headers: Record<string, string> = {};
    const response = await this.#answered(req, headers);
    return { ...response, headers: { ...headers, ...response.headers } };
  };

  /** The commands of the control surface: each calls a method of the stand-in. */
  protected abstract commands(): Command[];

  /**
   * The vendor's API. @param headers takes what every answer carries, refusals too
   * @throws Problem an answer other than success
   */
  protected abstract answer(
    req: StandinRequest,
    headers: Record<string, string>,
  ): StandinResponse | Promise<StandinResponse>;

  get calls(): readonly Call[] {
    return this.#calls;
  }

  /** Calls per endpoint, refused ones included, keyed `GET /orders/{id}` by the vendor's path (Shopify's: by operation). */
  callCounts(): Record<string, number> {
    return countCalls(this.#calls);
  }

  totalCalls(): number {
    return this.#calls.length;
  }

  clearCalls(): void {
    this.#calls = [];
  }

  changeSender(given: Given<typeof senderChange>): SenderSettings {
    return Object.assign(this.sender.settings, senderChange.parse(given));
  }

  /** Resolves when nothing is under way, deliveries of webhooks above all. */
  idle(): Promise<void> {
    return this.sender.idle();
  }

  /** Epoch milliseconds on the account's clock. */
  protected now(): number {
    return this.#clock().getTime();
  }

  protected note({ method }: StandinRequest, path: string, at: number): void {
    this.#calls.push({ method, path, at: new Date(at) });
  }

  async #answered(req: StandinRequest, headers: Record<string, string>): Promise<StandinResponse> {
    try {
      return await this.answer(req, headers);
    } catch (error) {
      if (error instanceof Problem) return error.response;
      throw error;
    }
  }

  #ownCommands(): Command[] {
    return [
      command('PATCH', 'sender', senderChange, (input) => this.changeSender(input)),
      command('GET', 'calls', nothing, () => ({ total: this.totalCalls(), counts: this.callCounts() })),
      command('POST', 'idle', nothing, () => this.idle()),
      command('DELETE', 'calls', nothing, () => this.clearCalls()),
    ];
  }
}

/** A pause before the next attempt of a delivery keeps no process alive. */
function realSleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
