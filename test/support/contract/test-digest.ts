import { createHmac } from 'node:crypto';

/** `ConnectorPorts.digest`, with a key of its own. */
export const testDigest = (text: string): string => createHmac('sha256', 'tests').update(text).digest('base64url');
