import { z } from 'zod';

/**
 * What is stored and read by several versions side by side: an older one, which doesn't know a newer one's fields, keeps them
 * when it saves what it has read. Its types tell only what it knows.
 */
export function keepingUnknown<Shape extends z.core.$ZodShape>(
  shape: Shape,
): z.ZodType<z.output<z.ZodObject<Shape>>, z.input<z.ZodObject<Shape>>> {
  return z.looseObject(shape);
}
