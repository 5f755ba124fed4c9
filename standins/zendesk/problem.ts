import type { StandinResponse } from '../kit/message.ts';
import { Problem } from '../kit/problem.ts';

export interface Invalid {
  [field: string]: { description: string; error?: string; ticket_field_id?: number; ticket_field_type?: string }[];
}

export const recordNotFound = (): Problem =>
  new Problem({ status: 404, body: { error: 'RecordNotFound', description: 'Not found' } });

export const invalidEndpoint = (): StandinResponse => ({
  status: 404,
  body: { error: 'InvalidEndpoint', description: 'Not found' },
});

export const recordInvalid = (details: Invalid): Problem =>
  new Problem({ status: 422, body: { error: 'RecordInvalid', description: 'Record validation errors', details } });

export const badRequest = (message: string): Problem =>
  new Problem({ status: 400, body: { error: { title: 'Invalid attribute', message } } });

export const updateConflict = (): Problem =>
  new Problem({
    status: 409,
    body: { error: 'UpdateConflict', description: 'Safe Update prevented the update of a ticket changed meanwhile' },
  });

export const unauthenticated = (): Problem =>
  new Problem({ status: 401, body: { error: "Couldn't authenticate you" } });

export const invalidToken = (): Problem =>
  new Problem({
    status: 401,
    headers: { 'www-authenticate': 'Bearer realm="zendesk", error="invalid_token"' },
    body: {
      error: 'invalid_token',
      error_description: 'The access token provided is expired, revoked, malformed or invalid for other reasons.',
    },
  });

export const forbidden = (): Problem =>
  new Problem({
    status: 403,
    body: {
      error: {
        title: 'Forbidden',
        message:
          'You do not have access to this page. Please contact the account owner of this help desk for further help.',
      },
    },
  });

/** Plain text sent as text/html: no JSON, on purpose. */
export const tooManyRequests = (retryAfterSeconds: number, what: string): Problem =>
  new Problem({
    status: 429,
    headers: { 'retry-after': String(retryAfterSeconds), 'content-type': 'text/html; charset=utf-8' },
    body: `Number of allowed ${what} per minute exceeded`,
  });
