import { afterEach, beforeEach, describe, test } from 'vitest';
import { woocommerceSample } from '../../../support/connectors/woocommerce/sample.ts';
import { connectorContract } from '../../../support/contract.ts';

connectorContract(woocommerceSample, { describe, test, beforeEach, afterEach });
