/** A duration that is longer than none. */
import { Duration } from '../../core/schedule/duration-setting.ts';
export const Period = Duration.refine((ms) => ms > 0, 'must be longer than 0');
