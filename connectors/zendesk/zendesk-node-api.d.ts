/**
 * The types of the part of the package that closeloop uses; the package has none. Its reads go through `request`, that is through
 * ./request/index.cjs.
 */
declare module 'zendesk-node-api' {
  /** @param credentials with `oauth` the token is a bearer token; the function changes this object */
  function zendesk(credentials: { url: string; token: string; oauth?: boolean }): {
    /** All ticket fields in one response, however many there are. */
    ticketFields: { list(query?: string): PromiseLike<unknown> };
  };
  export = zendesk;
}
