/**
 * Text messages at any hour, so that a test does the same by day and by night: a line of its configuration. `general`: the rest of
 * it, which may have a policy of its own.
 */
export function atAnyHour(general = ''): string {
  return /^policy:/m.test(general) ? '' : 'policy: { sms: { from: "00:00", until: "24:00" } }';
}
