import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const file = resolve(import.meta.dirname, '../../../../worker/config/with-holidays.ts');

/** As where the optional package was left out of the installation. */
const script = `
import { registerHooks } from 'node:module';
registerHooks({ resolve: (name, context, next) => next(name === 'date-holidays' ? 'date-holidays-left-out' : name, context) });
const { withHolidays } = await import(${JSON.stringify(file)});
const said = await withHolidays({ policy: { holidays: { country: 'EE' } } }, 'c.yaml').catch((error) => error);
console.log(JSON.stringify({ message: said.message, advice: said.advice }));
console.log((await withHolidays({ policy: {} }, 'c.yaml')).holidays);
`;

test('without the package that knows public holidays, only a policy with holidays is refused, with what to install', () => {
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  const [refused = '', without] = said.split('\n');
  expect(JSON.parse(refused)).toEqual({
    message: expect.stringMatching(/policy\.holidays is set.* npm install date-holidays$/),
    advice: { kind: 'config' },
  });
  expect(without).toBe('undefined');
});
