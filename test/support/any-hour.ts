import type { Config } from '../../worker/config/config.ts';

/** Text messages at any hour, so that a test does the same by day and by night; unless it says hours of its own. */
export function atAnyHour(config: Config, text: string): Config {
  if (/\bsms:/.test(text)) return config;
  return { ...config, policy: { ...config.policy, sms: { from: '00:00', until: '24:00' } } };
}
