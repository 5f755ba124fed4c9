import { Problem } from '../kit/problem.ts';

/** An error response of the service (specification 7): `detail` with a string, or parameter names with arrays of messages. */
export const problem = (
  status: number,
  body: string | Record<string, string[]>,
  headers: Record<string, string> = {},
): Problem => new Problem({ status, headers, body: typeof body === 'string' ? { detail: body } : body });

export const notFound = (): Problem => problem(404, 'Not found.');
export const noCampaign = (): Problem => problem(404, 'No Campaign matches the given query.');
export const forbidden = (): Problem => problem(403, 'You do not have permission to perform this action.');

/** One wrong parameter. */
export const invalid = (name: string, message: string): Problem => problem(400, { [name]: [message] });

export const notAChoice = (value: string): string =>
  `Select a valid choice. ${value} is not one of the available choices.`;
