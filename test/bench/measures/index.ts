import type { Measure } from '../harness.ts';
import { bytes } from './bytes.ts';
import { closings } from './closings.ts';
import { commands } from './commands.ts';
import { deliveries } from './deliveries.ts';
import { exporting } from './export.ts';
import { lateness } from './lateness.ts';
import { memory } from './memory.ts';
import { pages } from './pages.ts';
import { processes } from './processes.ts';
import { writeBacks } from './write-backs.ts';

/** In the order in which they run. */
export const measures: readonly Measure[] = [
  closings,
  deliveries,
  commands,
  memory,
  bytes,
  pages,
  lateness,
  exporting,
  processes,
  writeBacks,
];
