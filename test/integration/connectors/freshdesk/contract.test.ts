import { afterEach, beforeEach, describe, test } from 'vitest';
import { freshdeskSample } from '../../../support/connectors/freshdesk/sample.ts';
import { connectorContract } from '../../../support/contract.ts';

connectorContract(freshdeskSample, { describe, test, beforeEach, afterEach });
