import { createHmac } from 'node:crypto';

/** The app's client secret over the raw body; no time is signed. */
export const signIntercom = (secret: string, raw: Uint8Array | string): string =>
  `sha1=${createHmac('sha1', secret).update(raw).digest('hex')}`;
