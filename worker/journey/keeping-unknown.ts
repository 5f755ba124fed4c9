import { z } from 'zod';

/**
 * A schema of data that several versions of closeloop read and write: an older version keeps a newer version's fields when it
 * saves what it has read. The inferred type has the known fields only.
 */
export function keepingUnknown<Shape extends z.core.$ZodShape>(
  shape: Shape,
): z.ZodType<z.output<z.ZodObject<Shape>>, z.input<z.ZodObject<Shape>>> {
  return z.looseObject(shape);
}
