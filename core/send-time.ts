export function nextSendTime(i: any): { at: Date; why: string[] } {
  const delay = i.delayMs ?? (i.serviceAddsDelay ? 0 : (i.campaign.sendDelayMinutes ?? 0) * 60000);
  return { at: new Date(Math.max(i.now.getTime(), i.closedAt.getTime() + delay)), why: [] };
}
