/** What one attempt of a delivery met. */
export type Attempt =
  /** `retryAfterSeconds` as the receiver said, when it said a number. */
  { met: 'answer'; status: number; retryAfterSeconds?: number } | { met: 'timeout' } | { met: 'no-connection' };

export interface DeliveryResult {
  attempts: Attempt[];
  delivered: boolean;
  /** The receiver's last answer; left out when there was none. */
  status?: number;
}

export interface Message {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** A vendor's habits: how long it waits for an answer, and whether and when it tries again. */
export interface RetryPolicy {
  timeoutMs: number;
  /** Milliseconds until the next attempt, or `undefined` to give up. `attempts` holds at least one, the failed last one. */
  pauseMs(attempts: readonly Attempt[], random: () => number): number | undefined;
}

interface SenderPorts {
  fetch: typeof globalThis.fetch;
  random: () => number;
  sleep: (ms: number) => Promise<void>;
}

export interface SenderSettings {
  /** Multiplies the vendor's pauses between attempts: 1 as the vendor, 0.001 for tests, 0 for none. Default 1. */
  pauseScale?: number;
  /** Overrides the vendor's time-out. */
  timeoutMs?: number;
  /** Probability, 0 to 1, that a delivery is made a second time after it succeeded. Default 0. */
  duplicates?: number;
  /** Deliveries that are asked for together leave in random order. Default false. */
  reorder?: boolean;
  /** Deliveries in flight at once. Default 10. */
  concurrency?: number;
}

/**
 * Delivers webhooks as a vendor does. `build` is called for every attempt (0 first), so that each can be signed afresh.
 * `send` resolves when the delivery succeeded or was given up, duplicates included; it never rejects.
 */
export interface WebhookSender {
  settings: SenderSettings;
  send(build: (attempt: number) => Message): Promise<DeliveryResult>;
  /** Resolves when nothing is under way or waiting, later deliveries started meanwhile included. */
  idle(): Promise<void>;
}

export function createWebhookSender(
  policy: RetryPolicy,
  ports: SenderPorts,
  settings: SenderSettings = {},
): WebhookSender {
  const waiting: (() => Promise<void>)[] = [];
  const open = new Set<Promise<unknown>>();
  let running = 0;
  let flushing = false;

  const flush = (): void => {
    flushing = false;
    while (running < (sender.settings.concurrency ?? 10)) {
      const index = sender.settings.reorder === true ? Math.floor(ports.random() * waiting.length) : 0;
      const [job] = waiting.splice(index, 1);
      if (job === undefined) return;
      running += 1;
      void job().finally(() => {
        running -= 1;
        flush();
      });
    }
  };

  const sender: WebhookSender = {
    settings,
    send(build) {
      const result = new Promise<DeliveryResult>((resolve) => {
        waiting.push(async () => {
          const first = await deliver(build, policy, ports, sender.settings);
          if (first.delivered && ports.random() < (sender.settings.duplicates ?? 0)) {
            await deliver(build, policy, ports, sender.settings);
          }
          resolve(first);
        });
      });
      open.add(result);
      void result.finally(() => open.delete(result));
      // On the next turn, so that deliveries asked for together can be reordered.
      if (!flushing) {
        flushing = true;
        setImmediate(flush);
      }
      return result;
    },
    async idle() {
      while (open.size > 0) await Promise.all(open);
    },
  };
  return sender;
}

async function deliver(
  build: (attempt: number) => Message,
  policy: RetryPolicy,
  ports: SenderPorts,
  settings: SenderSettings,
): Promise<DeliveryResult> {
  const attempts: Attempt[] = [];
  for (;;) {
    const attempt = await tryOnce(build(attempts.length), settings.timeoutMs ?? policy.timeoutMs, ports.fetch);
    attempts.push(attempt);
    if (attempt.met === 'answer' && attempt.status >= 200 && attempt.status < 300) {
      return { attempts, delivered: true, status: attempt.status };
    }
    const pauseMs = policy.pauseMs(attempts, ports.random);
    if (pauseMs === undefined) {
      return { attempts, delivered: false, ...(attempt.met === 'answer' ? { status: attempt.status } : {}) };
    }
    const scaled = pauseMs * (settings.pauseScale ?? 1);
    if (scaled > 0) await ports.sleep(scaled);
  }
}

async function tryOnce(message: Message, timeoutMs: number, fetch: typeof globalThis.fetch): Promise<Attempt> {
  try {
    const { url, method, headers, body } = message;
    const response = await fetch(url, {
      method,
      headers,
      ...(method === 'GET' || method === 'DELETE' ? {} : { body }),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.arrayBuffer();
    const retryAfter = response.headers.get('retry-after');
    const seconds = retryAfter === null || !/^\d+$/.test(retryAfter.trim()) ? undefined : Number(retryAfter);
    return {
      met: 'answer',
      status: response.status,
      ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
    };
  } catch (error) {
    return { met: error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'no-connection' };
  }
}
