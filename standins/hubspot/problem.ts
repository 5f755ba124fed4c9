/** An answer other than success. The correlation id is added where the answer leaves. */
export class Problem extends Error {
  readonly response: { status: number; headers?: Record<string, string>; body: Record<string, unknown> };

  constructor(status: number, category: string, message: string, more: Record<string, unknown> = {}) {
    super(`answer ${status} ${category}`);
    this.response = { status, body: { status: 'error', message, category, ...more } };
  }
}

export const notFound = (message = 'resource not found'): Problem => new Problem(404, 'OBJECT_NOT_FOUND', message);

export const invalid = (message: string, more: Record<string, unknown> = {}): Problem =>
  new Problem(400, 'VALIDATION_ERROR', message, more);

export const unauthenticated = (): Problem =>
  new Problem(
    401,
    'INVALID_AUTHENTICATION',
    'Authentication credentials not found. This API supports OAuth 2.0 authentication.',
  );

export const missingScopes = (scopes: readonly string[]): Problem =>
  new Problem(403, 'MISSING_SCOPES', "This app hasn't been granted all required scopes to make this call.", {
    errors: [
      { message: 'One or more of the following scopes are required.', context: { requiredGranularScopes: scopes } },
    ],
  });

/** Has no `category`: the older shape, which this error still has. */
export function rateLimited(policyName: string, requestId: string): { status: number; body: Record<string, unknown> } {
  const message = `You have reached your ${policyName.toLowerCase()} limit.`;
  return { status: 429, body: { status: 'error', message, errorType: 'RATE_LIMIT', policyName, requestId } };
}
