/** The package has no types; this is the part of it we use. Reading goes through `request`, that is through ./request/index.cjs. */
declare module 'zendesk-node-api' {
  /** @param credentials with `oauth` the token is a bearer token. The object given is changed. */
  function zendesk(credentials: { url: string; token: string; oauth?: boolean }): {
    /** All ticket fields in one answer, however many there are. */
    ticketFields: { list(query?: string): PromiseLike<unknown> };
  };
  export = zendesk;
}
