/** Runs `work`: what it asks of `zendesk-node-api` is sent by `send`, which gives the text of the answer. */
export function sendingBy<T>(send: (options: { url: string }) => Promise<string>, work: () => T): T;
