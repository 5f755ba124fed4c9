/** For `--help`: the forms that `instant` reads. */
export const instantHelp =
  'a day (2026-11-01, today, yesterday), or date and time; without an offset on the clock of feedback.timeZone';
