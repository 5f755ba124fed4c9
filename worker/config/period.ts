import { Duration } from '../../core/schedule/duration.ts';

/** A duration above zero. */
export const Period = Duration.refine((ms) => ms > 0, 'must be longer than 0');
