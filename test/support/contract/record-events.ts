import { isRecordEvent, type RecordEvent, type SourceEvent } from '../../../core/connector/events.ts';

/** Those of a poll page that are about records. */
export const recordEvents = (events: readonly SourceEvent[]): RecordEvent[] => events.filter(isRecordEvent);
