import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isCode, refusal } from '../../core/errors.ts';
import { campaignNumbers } from '../config/campaign-choice.ts';
import type { Config } from '../config/config.ts';
import {
  type AnswerRow,
  type AnswerSource,
  answerCells,
  answerHead,
  answerPages,
  type ChangedAnswers,
} from '../reports/answers.ts';
import { csv } from '../reports/cells.ts';
import { instantsOf } from '../support/journey-filter.ts';
import { onFile } from './finish.ts';
import { say, writeLines, written } from './output.ts';
import { type CommandOptions, noSuch } from './runtime.ts';
import { withRecordNames } from './with-records.ts';

interface AnswersOptions extends CommandOptions {
  format: 'jsonl' | 'csv';
  /** Answered at or after this, and before that. */
  since?: string;
  until?: string;
  source?: string;
  campaign?: number;
  /** Only what has changed since the run that printed it; `start`: everything. */
  cursor?: string;
  /** A file that holds the cursor from run to run; it need not be there yet. */
  cursorFile?: string;
  /** Only for CSV: custom fields that get a column of their own, separated by commas. */
  fields?: string;
}

/**
 * So much of what the last run gave comes again: a worker may store a change a while after it has read its clock, and the clocks of machines
 * differ. Rows that come twice are told by their ids.
 */
const overlapMs = 600_000;

/** Exports customers' answers with their follow-ups, for warehouses and spreadsheets. It reads page by page, so that memory does not grow with them. */
export async function exportAnswers(options: AnswersOptions): Promise<number> {
  const format = options.json ? 'jsonl' : options.format;
  refuse(options, format);
  const { cursorFile, campaign } = options;
  const fields = options.fields?.split(',').map((name) => name.trim());
  const cursor = cursorOf(options);
  return await withRecordNames(options, async ({ sources, runtime }) => {
    const now = new Date();
    const { since, until } = await instantsOf(options, runtime.config.feedback);
    const changedSince = cursor && new Date(cursor.getTime() - overlapMs);
    const filter: ChangedAnswers = { now, campaign, since, until, changedSince };
    const chosen = sources(options.source);
    await refuseUnknown({ campaign, fields }, runtime.config, chosen);
    const write = writer(format, fields);
    await write.head();
    for (const of of chosen) for await (const rows of answerPages(of, filter)) await write.rows(rows);
    await written();
    // Last: what did not come out comes again.
    if (cursorFile !== undefined) saveCursor(cursorFile, now);
    else if (options.cursor !== undefined) say(`cursor ${now.toISOString()}`);
    return 0;
  });
}

/** @throws CloseloopError config for options that do not go together */
function refuse({ cursor, cursorFile, fields }: AnswersOptions, format: string): void {
  if (cursor !== undefined && cursorFile !== undefined)
    throw refusal('--cursor and --cursor-file: the cursor is given, or is in a file, one of both.');
  if (fields !== undefined && format !== 'csv')
    throw refusal('--fields is for "--format csv": a line of JSON has all custom fields.');
}

/**
 * A campaign or a field that no rule names has answers of an earlier rule, or is a slip. @throws CloseloopError config for a slip, which would
 * give nothing
 */
async function refuseUnknown(
  { campaign, fields = [] }: { campaign?: number | undefined; fields?: readonly string[] | undefined },
  config: Config,
  sources: readonly AnswerSource[],
): Promise<void> {
  const rules = config.sources.flatMap((source) => source.rules);
  const campaigns = campaignNumbers(rules);
  const names = [...new Set(rules.flatMap((rule) => Object.keys(rule.fields)))];
  const isInOne = async (fits: (row: AnswerRow) => boolean): Promise<boolean> => {
    for (const of of sources)
      for await (const rows of answerPages(of, { now: new Date() })) if (rows.some(fits)) return true;
    return false;
  };
  if (campaign !== undefined && !campaigns.includes(campaign) && !(await isInOne((row) => row.campaign === campaign)))
    throw noSuch('campaign', campaign, campaigns);
  for (const field of fields) {
    if (names.includes(field) || (await isInOne((row) => Object.hasOwn(row.fields, field)))) continue;
    throw noSuch('field', field, names);
  }
}

function writer(format: 'jsonl' | 'csv', fields: readonly string[] | undefined) {
  if (format === 'jsonl')
    return { head: async () => undefined, rows: (rows: readonly AnswerRow[]) => writeLines(rows) };
  const lines = (some: readonly AnswerRow[]) => csv(some.map((row) => answerCells(row, fields)));
  return {
    head: () => writeLines([answerHead(fields)], csv),
    rows: (rows: readonly AnswerRow[]) => writeLines(rows, lines),
  };
}

/** Undefined: everything is wanted. @throws CloseloopError config */
function cursorOf({ cursor, cursorFile }: AnswersOptions): Date | undefined {
  if (cursor !== undefined) return cursor === 'start' ? undefined : readCursor(cursor, '--cursor');
  const text = cursorFile === undefined ? undefined : textIn(cursorFile);
  return text === undefined ? undefined : readCursor(text, `--cursor-file ${cursorFile}`);
}

function readCursor(text: string, where: string): Date {
  const at = new Date(text.trim());
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text.trim()) && !Number.isNaN(at.getTime())) return at;
  throw refusal(
    `${where} holds no cursor: it is written as an earlier run printed it, like 2026-11-01T08:00:00.000Z; "start" begins anew.`,
  );
}

/** Undefined where there is no such file yet. */
function textIn(file: string): string | undefined {
  return onFile("--cursor-file can't be read", () => {
    try {
      return readFileSync(file, 'utf8');
    } catch (cause) {
      if (isCode(cause, 'ENOENT')) return undefined;
      throw cause;
    }
  });
}

/** Saves the cursor in one step: a process that is killed leaves the earlier cursor or this cursor. */
function saveCursor(file: string, at: Date): void {
  const draft = `${file}.${process.pid}`;
  onFile("--cursor-file can't be written", () => {
    writeFileSync(draft, `${at.toISOString()}\n`);
    renameSync(draft, file);
  });
}
