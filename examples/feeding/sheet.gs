// The answers in a Google Sheet: one row for each, in place of the row with the same id.
// Script properties: ANSWERS_URL, where answers.jsonl lies, and ANSWERS_TOKEN, which its server asks for.
const COLUMNS = ['id', 'changedAt', 'answeredAt', 'campaignName', 'grade', 'maxGrade', 'comment', 'url'];
const FIELDS = ['Store', 'Agent'];

function takeIn() {
  const properties = PropertiesService.getScriptProperties();
  const headers = { Authorization: `Bearer ${properties.getProperty('ANSWERS_TOKEN')}` };
  // Throws where the server answers with an error: the sheet stays as it is.
  const text = UrlFetchApp.fetch(properties.getProperty('ANSWERS_URL'), { headers }).getContentText();
  const answers = text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));
  const lock = LockService.getScriptLock();
  lock.waitLock(30000);
  try {
    write(SpreadsheetApp.getActiveSpreadsheet().getSheetByName('Answers'), answers);
  } finally {
    lock.releaseLock();
  }
}

function write(sheet, answers) {
  const head = [...COLUMNS, ...FIELDS, 'followUp'];
  const height = Math.max(1, sheet.getLastRow());
  const rows = sheet.getRange(1, 1, height, head.length).getValues().slice(1);
  const places = new Map(rows.map(([id], i) => [id, i]));
  for (const answer of answers) {
    const fields = FIELDS.map((name) => answer.fields[name]);
    const row = [...COLUMNS.map((name) => answer[name]), ...fields, answer.followUp && answer.followUp.state];
    const at = places.get(row[0]);
    if (at === undefined) places.set(row[0], rows.push(row) - 1);
    else if (new Date(rows[at][1]) <= new Date(row[1])) rows[at] = row;
  }
  sheet.getRange(1, 1, rows.length + 1, head.length).setValues([head, ...rows].map((row) => row.map(cell)));
}

// A text that begins like a formula would be one, also a comment that was read from the sheet: no customer must command it.
function cell(value) {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return value;
  return /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
}
