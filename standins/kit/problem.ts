import type { StandinResponse } from './message.ts';

/** An answer other than success, thrown by an endpoint and sent by the server that called it. */
export class Problem extends Error {
  readonly response: StandinResponse;

  constructor(response: StandinResponse) {
    super(`answer ${response.status}`);
    this.response = response;
  }
}
