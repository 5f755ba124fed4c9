import { within } from '../redis/unavailable.ts';

/** Codes that say why a process is not ready, or only partly ready. Anybody who can reach the intake can read the codes. */
type NotReady = 'redis-away' | 'redis-takes-no-writes' | 'source-takes-no-writes' | 'paused';

interface Ready {
  /** 503: no delivery can be taken. */
  status: 200 | 503;
  ok: boolean;
  reasons: NotReady[];
}

interface ReadinessOptions {
  /** Tries a write where each source's deliveries are stored, for all sources at once. */
  tryToStore: () => readonly Promise<unknown>[];
  /** Has any stage been stopped for a configuration error? */
  hasPaused: () => Promise<boolean>;
  now: () => Date;
  waitMs: number;
}

/** How long a good result is cached: each check writes to the disk, and anybody may ask. */
const believedMs = 1_000;

/** Checks whether deliveries can be stored now. Concurrent callers share one check. */
export function createReadiness(options: ReadinessOptions): () => Promise<Ready> {
  let good: { at: number; ready: Ready } | undefined;
  let checking: Promise<Ready> | undefined;
  const check = async (): Promise<Ready> => {
    const begun = options.now().getTime();
    const ready = await checkNow(options);
    good = ready.status === 200 ? { at: begun, ready } : undefined;
    return ready;
  };
  return async () => {
    if (good && Math.abs(options.now().getTime() - good.at) < believedMs) return good.ready;
    checking ??= check().finally(() => {
      checking = undefined;
    });
    return await checking;
  };
}

async function checkNow({ tryToStore, hasPaused, waitMs }: ReadinessOptions): Promise<Ready> {
  const results = await Promise.allSettled(tryToStore().map((write) => within(waitMs, write)));
  const failed = results.filter((result) => result.status === 'rejected');
  if (results.length > 0 && failed.length === results.length) {
    const answered = failed.some(({ reason }) => reason instanceof Error && reason.name === 'ReplyError');
    return { status: 503, ok: false, reasons: [answered ? 'redis-takes-no-writes' : 'redis-away'] };
  }
  try {
    const isPaused = await within(waitMs, hasPaused());
    const reasons: NotReady[] = [
      ...(failed.length > 0 ? ['source-takes-no-writes' as const] : []),
      ...(isPaused ? ['paused' as const] : []),
    ];
    return { status: 200, ok: reasons.length === 0, reasons };
  } catch {
    return { status: 503, ok: false, reasons: ['redis-away'] };
  }
}
