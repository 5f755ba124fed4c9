import { connectorContract } from 'closeloop/testing';
import { afterEach, beforeEach, describe, test } from 'vitest';
import { sample } from './sample.ts';

connectorContract(sample, { describe, test, beforeEach, afterEach });
