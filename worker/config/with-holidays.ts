import { isCode, refusal } from '../../core/errors.ts';
import type { Config } from './config.ts';
import { ConfigError } from './problem.ts';

/**
 * Adds the calendar of public holidays to the configuration where `policy.holidays` is set. The package with the holidays is optional, and is
 * loaded only then.
 * @throws ConfigError for a country or region whose holidays are not known; CloseloopError config where the package is not installed
 */
export async function withHolidays(config: Config, file: string): Promise<Config> {
  const { holidays } = config.policy;
  if (holidays === undefined) return config;
  const { countryNames, publicHolidays, regionNames, regionOf } = await load();
  const { country, region } = holidays;
  if (countryNames()[country] === undefined) {
    const message = `no public holidays of ${country} are known`;
    throw new ConfigError(file, [{ path: 'policy.holidays.country', message }]);
  }
  if (region !== undefined && regionOf(country, region) === undefined) {
    const known = Object.entries(regionNames(country)).map(([code, name]) => `${code} (${name})`);
    const which =
      known.length === 0
        ? `${country} has no regions with holidays of their own`
        : `must be one of ${known.join(', ')}`;
    throw new ConfigError(file, [{ path: 'policy.holidays.region', message: which }]);
  }
  return { ...config, holidays: { calendar: publicHolidays(), country, region } };
}

async function load() {
  try {
    return await import('../../core/schedule/public-holidays.ts');
  } catch (cause) {
    if (!isCode(cause, 'ERR_MODULE_NOT_FOUND')) throw cause;
    throw refusal(
      'policy.holidays is set, and the package that knows public holidays is not installed: npm install date-holidays',
      cause,
    );
  }
}
