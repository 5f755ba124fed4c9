import { onTestFinished } from 'vitest';
import { serve } from '../../standins/kit/server.ts';

export interface Got {
  headers: Readonly<Record<string, string | undefined>>;
  raw: Buffer;
  body: { type?: string; data?: { record?: unknown; [name: string]: unknown }; [name: string]: unknown };
  /** The id of the record that it is about. */
  record: string | undefined;
  isTaken: boolean;
}

/** Somebody's HTTP server, which keeps what it is sent, and answers as `answer` says: 204 where it says nothing. */
export async function receiver(
  answer: (got: Got) => { status: number; headers?: Record<string, string>; body?: string } | undefined = () =>
    undefined,
) {
  const got: Got[] = [];
  const server = await serve(({ headers, raw }) => {
    const body = JSON.parse(raw.toString());
    const one: Got = { headers, raw: Buffer.from(raw), body, record: body.data?.record?.id, isTaken: false };
    got.push(one);
    const response = answer(one) ?? { status: 204 };
    one.isTaken = response.status < 300;
    return response;
  });
  onTestFinished(() => server.close());
  return { got, url: `${server.url}/in/secret`, port: server.port, close: () => server.close() };
}
