import type { RecordPart, RecordParts } from '../../../core/connector/record-parts.ts';
import { compileExpression } from '../../../core/mapping/expression-compile.ts';
import { formatDuration } from '../../../core/schedule/duration.ts';
import type { NeverCondition } from '../../config/never.ts';
import type { Never } from '../rules.ts';
import { type NeverOptions, ofPerson, type Why } from './never.ts';

export function loadNever(conditions: readonly NeverCondition[], options: NeverOptions): Never {
  const own: NeverCondition[] = options.ownDomains.length === 0 ? [] : [{ ownDomains: [...options.ownDomains] }];
  const all = [...conditions, ...own];
  return {
    expressions: all.flatMap(({ when, reason }) =>
      when === undefined
        ? []
        : [{ when: compileExpression(when), why: `${reason ?? `\`${cut(when)}\` is true`} (never)` }],
    ),
    ofRecord: all.flatMap((one) => ofRecord(one, options.connector.parts)),
    ofPerson: all.flatMap((one) => ofPerson(one, options)),
  };
}

/** The conditions over the record. A condition may have a reason in the configuration, which then replaces the usual reason. */
export function ofRecord(
  { reason, handledIn, noReply, ...rest }: NeverCondition,
  parts: RecordParts,
): Never['ofRecord'] {
  const paths = (part: RecordPart) => (parts[part] ?? []).map(compileExpression);
  const named = byName.flatMap(([part, word]) => {
    const wanted = rest[part];
    return wanted === undefined
      ? []
      : [
          {
            what: `${part}: ${wanted.join(', ')}`,
            reads: paths(part),
            reasonFor: (values: readonly unknown[]) => nameIn(values, wanted, word),
          },
        ];
  });
  const timed = handledIn
    ? [{ what: handledInWords(handledIn), reads: paths('openedAt'), reasonFor: handledWithin(handledIn) }]
    : [];
  const silent = noReply ? [{ what: 'noReply', reads: paths('replies'), reasonFor: repliedNever }] : [];
  return [...named, ...timed, ...silent].map(({ what, reads, reasonFor }) => ({
    what,
    reads,
    reasonFor: (values, closedAt) => {
      const why = reasonFor(values, closedAt);
      return why === undefined ? undefined : (reason ?? why);
    },
  }));
}

const byName = [
  ['tags', 'tag'],
  ['brands', 'brand'],
  ['groups', 'group'],
  ['pipelines', 'pipeline'],
  ['channels', 'channel'],
  ['agents', 'agent'],
] as const;

/** The first wanted name among the values, as the configuration writes the name. */
function nameIn(values: readonly unknown[], wanted: readonly string[], word: string): Why {
  const there = new Set(values.map((value) => String(value).trim().toLowerCase()));
  const found = wanted.find((name) => there.has(name.toLowerCase()));
  return found === undefined ? undefined : `${word} ${found}`;
}

function handledInWords({ under, over }: NonNullable<NeverCondition['handledIn']>): string {
  const parts = [
    ...(under === undefined ? [] : [`under ${formatDuration(under)}`]),
    ...(over === undefined ? [] : [`over ${formatDuration(over)}`]),
  ];
  return `handledIn: ${parts.join(', ')}`;
}

function handledWithin({ under = 0, over = Number.POSITIVE_INFINITY }: NonNullable<NeverCondition['handledIn']>) {
  return ([openedAt]: readonly unknown[], closedAt: Date): Why => {
    const took = closedAt.getTime() - Date.parse(typeof openedAt === 'string' ? openedAt : '');
    if (Number.isNaN(took)) return undefined;
    if (took < under) return `handled in under ${formatDuration(under)}`;
    return took > over ? `handled in over ${formatDuration(over)}` : undefined;
  };
}

function repliedNever(values: readonly unknown[]): Why {
  return values.length > 0 && values.every((value) => value === 0) ? 'no agent has replied' : undefined;
}

function cut(source: string): string {
  const line = source.trim().replaceAll(/\s+/g, ' ');
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}
