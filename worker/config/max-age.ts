import { z } from 'zod';
import { Duration } from '../../core/schedule/duration.ts';

/** The age up to which a closing is asked about; false: any age. */
export const MaxAge = z
  .union([Duration, z.literal(false)])
  .describe(
    'About a closing older than this nobody is asked; false: of any age. Left out: 3 days longer than the delay',
  );
