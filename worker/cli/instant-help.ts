/** How `instant` reads, for `--help`. */
export const instantHelp = 'a day, or date and time; without an offset on the clock of feedback.timeZone';
