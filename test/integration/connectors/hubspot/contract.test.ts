import { afterEach, beforeEach, describe, test } from 'vitest';
import { hubspotSample } from '../../../support/connectors/hubspot/sample.ts';
import { connectorContract } from '../../../support/contract.ts';

connectorContract(hubspotSample, { describe, test, beforeEach, afterEach });
