import type { Measure } from '../harness.ts';
import { closings } from './closings.ts';
import { commands } from './commands.ts';
import { deliveries } from './deliveries.ts';
import { loneClosing } from './lone-closing.ts';
import { memory } from './memory.ts';

/** In the order in which they run. */
export const measures: readonly Measure[] = [closings, deliveries, loneClosing, commands, memory];
