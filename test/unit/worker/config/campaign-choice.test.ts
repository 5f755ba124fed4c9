import { expect, test } from 'vitest';
import { campaignFor, campaignNumbers, campaignsIn, languageOf } from '../../../../worker/config/campaign-choice.ts';
import { toyConfig } from '../../../support/worker/configs.ts';

test.each([
  ['et', 'et'],
  ['et-EE', 'et-ee'],
  ['en_US', 'en-us'],
  ['de_DE_formal', 'de-de-formal'],
  ['et_EE.UTF-8', 'et-ee'],
  ['pt-BR,pt;q=0.9', 'pt-br'],
  [' EN ', 'en'],
  ['', undefined],
  ['English', undefined],
  ['erika@example.com', undefined],
  ['*', undefined],
  [undefined, undefined],
])('the language of the locale %s is %s', (locale, language) => expect(languageOf(locale)).toBe(language));

const choice = { en: 12, et: 13, 'pt-BR': 14, zh_Hant: 15, default: 16 };

test.each([
  ['et', 13, 'et: et'],
  ['et-ee', 13, 'et-ee: et'],
  ['en-us-x-twain', 12, 'en-us-x-twain: en'],
  ['pt-br', 14, 'pt-br: pt-BR'],
  ['pt', 16, 'pt: default'],
  ['pt-pt', 16, 'pt-pt: default'],
  ['zh-hant-tw', 15, 'zh-hant-tw: zh_Hant'],
  ['zh-hans', 16, 'zh-hans: default'],
  [undefined, 16, 'not known: default'],
])('who speaks %s is asked in campaign %i', (language, campaign, why) => {
  expect(campaignFor(choice, language)).toEqual({ campaign, why: `language ${why}` });
});

test('without a default nobody else is asked, and one campaign is for everybody', () => {
  expect(campaignFor({ en: 12 }, 'fi')).toBeUndefined();
  expect(campaignFor({ en: 12 }, undefined)).toBeUndefined();
  expect(campaignFor(12, 'fi')).toEqual({ campaign: 12 });
});

test('every campaign is listed once, by the setting that names it first', () => {
  const some = { en: 12, default: 12, et: 13 };
  expect(campaignsIn(some)).toEqual([
    { campaign: 12, setting: 'campaign.en' },
    { campaign: 13, setting: 'campaign.et' },
  ]);
  expect(campaignsIn(9)).toEqual([{ campaign: 9, setting: 'campaign' }]);
  expect(campaignNumbers([{ campaign: some }, { campaign: 13 }, { campaign: 9 }])).toEqual([12, 13, 9]);
});

const load = (campaign: string) => toyConfig({ campaign });

test('a rule takes a campaign, or one for each language', () => {
  expect(load('12').sources[0]?.rules[0]?.campaign).toBe(12);
  expect(load('{ no: 12, default: 13 }').sources[0]?.rules[0]?.campaign).toEqual({ no: 12, default: 13 });
});

test.each([
  ['{}', /rules\[0\]\.campaign: needs at least one language/],
  ['{ English: 12 }', /rules\[0\]\.campaign\.English: must be a language like et or pt-BR, or default/],
  ['{ en: twelve }', /rules\[0\]\.campaign\.en: must be a (whole )?number/],
  ['{ en-US: 12, en_us: 13 }', /rules\[0\]\.campaign\.en_us: is the same language as en-US/],
  ['"12"', /rules\[0\]\.campaign: must be a (whole )?number or /],
])('a mistake in the campaign is told where it stands: %s', (campaign, expected) => {
  expect(() => load(campaign)).toThrow(expected);
});
