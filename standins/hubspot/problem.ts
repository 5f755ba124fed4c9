import { Problem } from '../kit/problem.ts';

/** The correlation id is added where the answer leaves. */
export const problem = (
  status: number,
  category: string,
  message: string,
  more: Record<string, unknown> = {},
): Problem => new Problem({ status, body: { status: 'error', message, category, ...more } });

export const notFound = (message = 'resource not found'): Problem => problem(404, 'OBJECT_NOT_FOUND', message);

export const invalid = (message: string, more: Record<string, unknown> = {}): Problem =>
  problem(400, 'VALIDATION_ERROR', message, more);

export const unauthenticated = (): Problem =>
  problem(
    401,
    'INVALID_AUTHENTICATION',
    'Authentication credentials not found. This API supports OAuth 2.0 authentication.',
  );

export const missingScopes = (scopes: readonly string[]): Problem =>
  problem(403, 'MISSING_SCOPES', "This app hasn't been granted all required scopes to make this call.", {
    errors: [
      { message: 'One or more of the following scopes are required.', context: { requiredGranularScopes: scopes } },
    ],
  });

/** Has no `category`: the older shape, which this error still has. */
export function rateLimited(policyName: string, requestId: string): { status: number; body: Record<string, unknown> } {
  const message = `You have reached your ${policyName.toLowerCase()} limit.`;
  return { status: 429, body: { status: 'error', message, errorType: 'RATE_LIMIT', policyName, requestId } };
}
