/** Grades as NPS counts them: of eleven grades, the lower seven are no praise. */
export function toneOf(grade: number, maxGrade: number | undefined): 'bad' | 'wait' | 'good' | '' {
  if (maxGrade === undefined || maxGrade <= 1) return '';
  const share = grade / maxGrade;
  if (share >= (maxGrade >= 10 ? 0.9 : 0.8)) return 'good';
  return share <= (maxGrade >= 10 ? 0.6 : 0.4) ? 'bad' : 'wait';
}
