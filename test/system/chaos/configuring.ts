import type { Regime } from './evidence.ts';
import type { Operation } from './load.ts';
import { renamedDesk, sources } from './planned-record.ts';
import { type PolicyVersion, versionOf } from './policy.ts';
import type { Kept } from './processes.ts';

/** A process works on what it began by the configuration that it had. */
const tailMs = 10_000;

export interface Configuring {
  /** Versions of the configuration, oldest first. */
  regimes: readonly Regime[];
  /** The changes that an operator makes while the load goes on: more of them in a longer run. */
  operations(kills: number, processes: readonly Kept[]): Operation[];
}

/** Rewrites the configuration while everything goes on: rules change, and the help desk gets another name. */
export function configuring(options: {
  write: (deskName: string, version: PolicyVersion) => void;
  say: (line: string) => void;
}): Configuring {
  const { write, say } = options;
  const regimes: Regime[] = [];
  let deskName: string = sources.desk;
  let n = -1;
  const writeNext = (): Regime | undefined => {
    const before = regimes.at(-1);
    const version = versionOf(++n);
    regimes.push({ version, from: Date.now(), until: Number.POSITIVE_INFINITY });
    write(deskName, version);
    return before;
  };
  writeNext();

  /** Every other time the processes are started anew in place of reading the file again. */
  const change = async (processes: readonly Kept[]): Promise<void> => {
    const before = writeNext();
    const isRestart = n % 2 === 0;
    say(`version ${n} of the rules: each process ${isRestart ? 'is started anew' : 'reads the configuration again'}`);
    for (const one of processes) await (isRestart ? one.suffer({ how: 'SIGTERM', forMs: 0 }) : one.reload());
    if (before) before.until = Date.now() + tailMs;
    say(`version ${n} of the rules holds everywhere`);
  };
  /** One process after the other is started anew: meanwhile they have it under both names. */
  const rename = async (processes: readonly Kept[]): Promise<void> => {
    deskName = renamedDesk;
    write(deskName, versionOf(n));
    say(`the help desk is called ${renamedDesk} in the configuration: each process is started anew`);
    for (const one of processes) await one.suffer({ how: 'SIGTERM', forMs: 0 });
  };

  return {
    regimes,
    operations(kills, processes) {
      const changes = Math.max(4, Math.round(kills / 15));
      const shares = Array.from({ length: changes }, (_, i) => (i + 0.5) / changes);
      return [
        ...shares.map((share) => ({ share, run: () => change(processes) })),
        { share: 0.5, run: () => rename(processes) },
      ].sort((a, b) => a.share - b.share);
    },
  };
}
