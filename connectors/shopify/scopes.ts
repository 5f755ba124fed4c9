/** What the app must be allowed. A right to write includes the one to read. */
export const scopes = ['read_orders', 'write_orders', 'read_customers', 'read_fulfillments', 'read_locations'] as const;

export function missingScopes(granted: readonly string[]): string[] {
  return scopes.filter((one) => !granted.includes(one) && !granted.includes(one.replace('read_', 'write_')));
}
