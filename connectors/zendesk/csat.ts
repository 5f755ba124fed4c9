import { z } from 'zod';
import { compileExpression, evaluateAll } from '../../core/mapping/expression.ts';
import { ExpressionSource } from '../../core/mapping/expression-source.ts';
import { isBlank } from '../../core/visible-text.ts';

/** The event for a rating in Zendesk's own survey. */
export const csatReceived = 'zen:event-type:ticket.csat_received';

const expression = ExpressionSource.meta({ description: 'JSONata over the delivery' });

/**
 * Zendesk documents the name of the event and not its content: the places of score and comment are assumptions, and configurable.
 * A score of the newer CSAT is a number, and is the grade itself.
 */
export const csatSettings = z.strictObject({
  good: z.number().default(5).describe('The grade, in the external campaign, of the classic score "good"'),
  bad: z.number().default(1).describe('The grade of the classic score "bad"'),
  score: expression.default(
    '[event.satisfaction_score.score, event.satisfaction_score, event.current.score, event.current][$type($) in ["string", "number"]][0]',
  ),
  comment: expression.default(
    '[event.satisfaction_score.comment, event.current.comment, event.comment][$type($) = "string"][0]',
  ),
});
type CsatSettings = z.output<typeof csatSettings>;

export type Rating =
  | { ok: true; grade: number; comment: string | null }
  /** Offered, or taken back: no rating. */
  | { ok: true; grade: undefined }
  | { ok: false; why: string };

const notGiven = new Set(['offered', 'unoffered', 'none', '']);

/** The rating in a delivery of `csatReceived`. Pure. */
export function ratingReader({ good, bad, ...at }: CsatSettings): (delivery: unknown) => Promise<Rating> {
  const [score, comment] = [compileExpression(at.score), compileExpression(at.comment)];
  return async (delivery) => {
    const findings = await evaluateAll([score, comment], delivery);
    const [foundScore, foundComment] = [findings.of(score), findings.of(comment)];
    if (!foundScore.ok) return { ok: false, why: `csat: ${foundScore.why}` };
    if (!foundComment.ok) return { ok: false, why: `csat: ${foundComment.why}` };
    const text = String(foundScore.value ?? '').trim();
    const word = text.toLowerCase().replace(/_?with_?comment$/, '');
    const given = /^\d+(?:\.\d+)?$/.test(word) ? Number(word) : undefined;
    const grade = word === 'good' ? good : word === 'bad' ? bad : given;
    const said = foundComment.value;
    const words = typeof said === 'string' && !isBlank(said) ? said : null;
    if (grade !== undefined) return { ok: true, grade, comment: words };
    if (notGiven.has(word) && text !== '') return { ok: true, grade: undefined };
    return { ok: false, why: 'a rating without a score where csat.score looks for it: correct that expression' };
  };
}
