/**
 * JSON whose whole numbers keep all their digits: those that a number can't hold come as text. Ids are text everywhere.
 * @throws SyntaxError
 */
export function parseJson(text: string): unknown {
  // The third argument is the digits as written; the types don't know it yet.
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) => {
    const source = context?.source;
    return typeof value === 'number' && source !== undefined && /^-?\d+$/.test(source) && !Number.isSafeInteger(value)
      ? source
      : value;
  });
}
