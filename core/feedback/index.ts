/*
 * The core alone, for programs that ask by themselves: `import { … } from 'closeloop/feedback'`. The service's client, custom
 * field values by expressions, and send times. A guide is in docs/library.md.
 */

export { type Contact, type ContactChoice, type ContactOptions, contactFor, parseContact } from '../contact.ts';
export { type Advice, CloseloopError, type Outcome } from '../errors.ts';
export { type Expression, type ExpressionResult, evaluateAll, type Findings } from '../mapping/expression.ts';
export { compileExpression } from '../mapping/expression-compile.ts';
export type { CustomValue, FieldDefinition } from '../mapping/field-value.ts';
export { type Applied, applyMapping, checkMapping, compileMapping, type Mapping } from '../mapping/mapping.ts';
export type { Day } from '../schedule/days.ts';
export { formatDuration } from '../schedule/duration.ts';
export { parseDuration } from '../schedule/duration-setting.ts';
export { type PlaceHints, type RecipientPlace, recipientPlace } from '../schedule/recipient-place.ts';
export {
  type CampaignHours,
  checkWindows,
  hoursOf,
  type MessageHours,
  nextSendTime,
  type RuleWindow,
  type SendTime,
  type SendTimeInput,
} from '../schedule/send-time.ts';
export type {
  CallOptions,
  CampaignQuery,
  CreateOptions,
  CustomFieldQuery,
  FeedbackClient,
  RequestPage,
  StatsRange,
} from './client.ts';
export { FeedbackError, isNobody } from './failure.ts';
export { connectFeedback, type FeedbackOptions } from './library.ts';
export { assumedOperations, type OperationOverrides, type Operations } from './operations.ts';
export type { FeedbackRequest, NewRequest, RequestQuery } from './request-form.ts';
export type {
  AccessLogEntry,
  Campaign,
  CampaignStats,
  ContactRecord,
  CustomFieldDefinition,
  CustomFieldStatistic,
  FieldType,
  MaskResult,
  Metric,
  Page,
  Question,
  Survey,
  SurveyEntry,
  UnreadableQuestion,
} from './schemas.ts';
