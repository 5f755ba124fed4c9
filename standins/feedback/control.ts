import { command, createControlSurface, nothing } from '../kit/control.ts';
import type { StandinRequest, StandinResponse } from '../kit/message.ts';
import * as define from './definitions.ts';
import type { FeedbackService } from './service.ts';

interface Seeded {
  seed(): void;
}

/** The control surface over HTTP, a mirror of the stand-in's methods. GET `/_control/` lists it. */
export function createFeedbackControl(
  standin: FeedbackService & Seeded,
): (req: StandinRequest) => Promise<StandinResponse> {
  return createControlSurface([
    command('POST', 'accounts', define.accountDefinition, (input) => standin.addAccount(input)),
    command('POST', 'keys', define.keyDefinition, (input) => standin.addKey(input)),
    command('PATCH', 'keys', define.keyChange, (input) => standin.changeKey(input)),
    command('DELETE', 'keys', define.keyName, (input) => standin.deleteKey(input)),
    command('POST', 'campaigns', define.campaignDefinition, (input) => standin.addCampaign(input)),
    command('PATCH', 'campaigns', define.campaignChange, (input) => standin.changeCampaign(input)),
    command('POST', 'surveys', define.surveyDefinition, (input) => standin.addSurvey(input)),
    command('POST', 'answers', define.customerAnswer, (input) => standin.answer(input)),
    command('POST', 'blacklist', define.blacklistEntry, (input) => standin.blacklist(input)),
    command('POST', 'graylist', define.graylistEntry, (input) => standin.graylist(input)),
    command('POST', 'access-log', define.accessEntry, (input) => standin.addAccess(input)),
    command('GET', 'requests', define.requestFilter, (input) => standin.requests(input)),
    command('POST', 'long-ids', define.longIds, (input) => standin.giveLongIds(input)),
    command('POST', 'past', define.pastRequest, (input) => standin.addPast(input)),
    command('POST', 'fill', define.fillOrder, (input) => standin.fill(input)),
    command('GET', 'clock', nothing, () => ({ now: standin.now() })),
    command('POST', 'clock', define.clockChange, (input) => ({ now: standin.moveClock(input) })),
    command('GET', 'calls', nothing, () => standin.calls()),
    command('DELETE', 'calls', nothing, () => standin.clearCalls()),
    command('POST', 'seed', nothing, () => standin.seed()),
    command('POST', 'reset', nothing, () => standin.reset()),
  ]);
}
