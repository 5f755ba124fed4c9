export interface Progress {
  /** How far the load has come, of `loadMs`. */
  position: number;
  loadMs: number;
  /** Since the load began. */
  elapsedMs: number;
  killed: number;
  kills: number;
}

/**
 * Where the load is `passedMs` later: kills take as long as the machine lets them, so the load goes on at the pace at which it would end with
 * the last kill, by how long the kills took until now. It never gets ahead of them by more than one kill's share: late kills, which take
 * longer, would meet no load. Pure.
 */
export function advanced({ position, loadMs, elapsedMs, killed, kills }: Progress, passedMs: number): number {
  if (killed >= kills) return position + passedMs;
  const leftMs = killed === 0 ? loadMs : (elapsedMs / killed) * (kills - killed);
  const next = position + ((loadMs - position) * passedMs) / Math.max(leftMs, passedMs);
  return Math.max(position, Math.min(next, (loadMs * (killed + 1)) / kills));
}
