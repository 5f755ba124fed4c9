import { afterEach, beforeEach, describe, test } from 'vitest';
import { zendeskSample } from '../../../support/connectors/zendesk/sample.ts';
import { connectorContract } from '../../../support/contract.ts';

connectorContract(zendeskSample, { describe, test, beforeEach, afterEach });
