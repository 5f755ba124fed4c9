import { createRequire } from 'node:module';
import type * as shim from './request/index.cjs';

/**
 * Our `request`, loaded the way `zendesk-node-api` loads it. Both must share one instance, or the package's calls would
 * not find the transport they run in; a bundler or test runner that transforms imports would make two.
 */
const loaded: typeof shim = createRequire(import.meta.url)('./request/index.cjs');

export const { zendeskCall, withTransport, ZendeskCallError } = loaded;
export type ZendeskCallError = shim.ZendeskCallError;
export type { Answer } from './request/index.cjs';
