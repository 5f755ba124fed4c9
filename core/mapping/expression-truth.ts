/** A record may pretend to be a function of JSONata's: it isn't looked into. */
export function isFunction(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'function';
  return (
    ('_jsonata_function' in value && value._jsonata_function === true) ||
    ('_jsonata_lambda' in value && value._jsonata_lambda === true)
  );
}

/**
 * What JSONata's `$boolean` makes of a value: an empty text, 0, null, an empty object and a list without anything true are false;
 * undefined where an expression finds nothing.
 */
export function truth(value: unknown): boolean | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) return value.length === 1 ? truth(value[0]) : value.some((one) => truth(one));
  if (typeof value === 'number') return !Number.isNaN(value) && value !== 0;
  if (typeof value === 'object' && value !== null) return !isFunction(value) && Object.keys(value).length > 0;
  return value === true || (typeof value === 'string' && value !== '');
}
