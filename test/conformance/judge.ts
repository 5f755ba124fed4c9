import type { Recorded } from './recorded.ts';

/** What the vendor's description says of a request. */
export interface Judgement {
  /** As the description has it: `GET /api/v2/tickets/{ticket_id}`; for GraphQL with the operation's name. */
  operation: string;
  /** Where the request differs, in words that hold for all requests of this kind. */
  problems: string[];
  /** What is taken, but not for ever: deprecated fields. */
  notes?: string[];
}

/** `undefined`: the description has no such operation. */
export type Judge = (request: Recorded) => Judgement | undefined;
