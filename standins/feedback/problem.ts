/** An error response of the service (specification 7): `detail` with a string, or parameter names with arrays of messages. */
export class Problem extends Error {
  readonly status: number;
  readonly body: { detail: string } | Record<string, string[]>;
  readonly headers: Record<string, string>;

  constructor(status: number, body: string | Record<string, string[]>, headers: Record<string, string> = {}) {
    super(`${status}`);
    this.status = status;
    this.body = typeof body === 'string' ? { detail: body } : body;
    this.headers = headers;
  }
}

export const notFound = (): Problem => new Problem(404, 'Not found.');
export const noCampaign = (): Problem => new Problem(404, 'No Campaign matches the given query.');
export const forbidden = (): Problem => new Problem(403, 'You do not have permission to perform this action.');

/** One wrong parameter. */
export const invalid = (name: string, message: string): Problem => new Problem(400, { [name]: [message] });

export const notAChoice = (value: string): string =>
  `Select a valid choice. ${value} is not one of the available choices.`;
