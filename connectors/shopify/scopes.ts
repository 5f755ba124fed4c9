/** The scopes that the app needs. A write scope includes the read scope. */
export const scopes = ['read_orders', 'write_orders', 'read_customers', 'read_fulfillments', 'read_locations'] as const;

export function missingScopes(granted: readonly string[]): string[] {
  return scopes.filter((one) => !granted.includes(one) && !granted.includes(one.replace('read_', 'write_')));
}
