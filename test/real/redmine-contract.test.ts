import { afterAll, afterEach, beforeEach, describe, test } from 'vitest';
import { connectorContract } from '../support/contract.ts';
import { startRedmine } from './systems/redmine.ts';

/* The connector of somebody who knew the package and nothing else: examples/redmine-connector. */

const running = await startRedmine();
const { baseUrl: url, database, adminKey: admin, agentKey: agent, noRightsKey: noRights } = running;
// Its sample reads where the server is when it is loaded.
process.env.REDMINE = JSON.stringify({ url, database, keys: { admin, agent, noRights } });
const { sample } = await import('../../examples/redmine-connector/sample.ts');
afterAll(() => running.stop({ keepLog: false }));

connectorContract(sample, { describe, test, beforeEach, afterEach });
