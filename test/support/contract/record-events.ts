import { isRecordEvent } from '../../../core/connector/delivery.ts';
import type { RecordEvent, SourceEvent } from '../../../core/connector/events.ts';

/** Those of a poll page that are about records. */
export const recordEvents = (events: readonly SourceEvent[]): RecordEvent[] => events.filter(isRecordEvent);
