import type { GuardContext } from '../erasure-guard.ts';
import type { Policy } from '../policy/source-policy.ts';
import type { Queues } from '../queues.ts';
import type { WithdrawContext } from '../withdraw.ts';
import type { GradeContext } from './external-grade.ts';
import type { ReceivingContext } from './plan-journey.ts';
import type { SurveyContext } from './survey.ts';

/** The parts of a source that planning needs. */
export type PlanContext = GradeContext &
  GuardContext &
  WithdrawContext &
  SurveyContext &
  ReceivingContext &
  Pick<Policy, 'keepMs'> &
  Pick<Queues, 'queueEvent' | 'rateLimit'> & {
    /** The last period in which only a dry run had the source: closeloop does not ask by itself about records that closed then. */
    ranDry(): Promise<{ from: Date; until: Date } | undefined>;
    /** The vendor revoked the access: stops every stage until a person restores it. */
    revoke(why: string): Promise<void>;
  };
