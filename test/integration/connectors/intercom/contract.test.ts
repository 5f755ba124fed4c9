import { afterEach, beforeEach, describe, test } from 'vitest';
import { intercomSample } from '../../../support/connectors/intercom/sample.ts';
import { connectorContract } from '../../../support/contract.ts';

connectorContract(intercomSample, { describe, test, beforeEach, afterEach });
