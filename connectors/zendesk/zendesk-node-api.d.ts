/** The package has no types; this is the part of it we use. */
declare module 'zendesk-node-api' {
  interface Credentials {
    url: string;
    token: string;
    /** With `oauth` the token is a bearer token, else an API token of `email`. */
    oauth?: boolean;
    email?: string;
  }
  /** The object given is changed. Reading goes through `request`, that is through ./request/index.cjs. */
  function zendesk(credentials: Credentials): {
    /** All ticket fields in one answer, however many there are. */
    ticketFields: { list(query?: string): PromiseLike<unknown> };
  };
  export = zendesk;
}
