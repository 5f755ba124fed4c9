import { afterEach, beforeEach, describe, test } from 'vitest';
import { shopifySample } from '../../../support/connectors/shopify/sample.ts';
import { connectorContract } from '../../../support/contract.ts';

connectorContract(shopifySample, { describe, test, beforeEach, afterEach });
