import { z } from 'zod';

const CampaignId = z.int().positive();

/** The key of the campaign for records without a language, or in a language without a campaign of its own. */
const otherwise = 'default';

/** Language → campaign. */
const ByLanguage = z
  .record(
    z
      .string()
      .regex(/^(default|[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*)$/, 'must be a language like et or pt-BR, or default'),
    CampaignId,
  )
  .superRefine((choice, context) => {
    const tags = Object.keys(choice);
    if (tags.length === 0) context.addIssue({ code: 'custom', message: 'needs at least one language' });
    for (const [i, tag] of tags.entries()) {
      const twin = tags.slice(0, i).find((one) => normal(one) === normal(tag));
      if (twin !== undefined)
        context.addIssue({ code: 'custom', path: [tag], message: `is the same language as ${twin}` });
    }
  });

/** The campaign of a rule: a single campaign, or a campaign for each language. */
export const CampaignChoice = z.union([CampaignId, ByLanguage], {
  error: ({ input }) => (input === undefined || isChoice(input) ? undefined : notACampaign),
});
export type CampaignChoice = z.output<typeof CampaignChoice>;

const notACampaign = 'must be a number or one for each language: 12, without quotes, or { en: 12, default: 13 }';

/** A number or a section, whose own mistakes say more. */
function isChoice(written: unknown): boolean {
  return typeof written === 'number' || (typeof written === 'object' && written !== null && !Array.isArray(written));
}

/** Reads the language at the start of a vendor's locale: `et-ee` from `et_EE.UTF-8`. Undefined where the locale names no language. */
export function languageOf(locale: string | undefined): string | undefined {
  const [, tag] = locale?.trim().match(/^([a-z]{2,3}(?:[-_][a-z0-9]{1,8})*)(?![\w-])/i) ?? [];
  return tag === undefined ? undefined : normal(tag);
}

/**
 * Chooses the campaign for a record by the lookup of RFC 4647 (section 3.4): for `et-EE` first `et-EE`, then `et`, then `default`. Undefined where
 * no campaign fits. `why` is the line for the trace.
 */
export function campaignFor(
  choice: CampaignChoice,
  language: string | undefined,
): { campaign: number; why?: string } | undefined {
  if (typeof choice === 'number') return { campaign: choice };
  const tags = Object.keys(choice);
  for (const range of [...rangesOf(language), otherwise]) {
    const tag = tags.find((one) => normal(one) === range);
    const campaign = tag === undefined ? undefined : choice[tag];
    if (campaign !== undefined) return { campaign, why: `language ${language ?? 'not known'}: ${tag}` };
  }
  return undefined;
}

/** Shortens `zh-hant-tw` to `zh-hant`, then to `zh`. A tag never ends with a single letter, as that letter only introduces the next part. */
function rangesOf(language: string | undefined): string[] {
  const parts = language?.split('-') ?? [];
  const ranges = parts.flatMap((part, i) => (part.length > 1 ? [parts.slice(0, i + 1).join('-')] : []));
  return ranges.reverse();
}

/** Every campaign that the rules may choose, each with the first setting that names it. */
export function campaignsIn(choice: CampaignChoice): { campaign: number; setting: string }[] {
  if (typeof choice === 'number') return [{ campaign: choice, setting: 'campaign' }];
  const first = new Map<number, string>();
  for (const [tag, campaign] of Object.entries(choice)) {
    if (!first.has(campaign)) first.set(campaign, `campaign.${tag}`);
  }
  return [...first].map(([campaign, setting]) => ({ campaign, setting }));
}

/** Every campaign that one of these rules may ask in. */
export function campaignNumbers(rules: readonly { campaign: CampaignChoice }[]): number[] {
  return [...new Set(rules.flatMap((rule) => campaignsIn(rule.campaign).map(({ campaign }) => campaign)))];
}

function normal(tag: string): string {
  return tag.toLowerCase().replaceAll('_', '-');
}
