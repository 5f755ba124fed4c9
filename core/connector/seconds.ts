/** ISO 8601 in UTC and whole seconds, rounded down, as most vendors write times: `2026-11-24T10:00:00Z`. */
export const inSeconds = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`;
